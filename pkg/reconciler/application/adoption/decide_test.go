package adoption_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	. "github.com/firesteel-dev/firesteel/pkg/reconciler/application/adoption"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

func TestApplicationsWithoutAUsableRecordAreAdoptedRestoredOrLeftAlone(t *testing.T) {
	foreign := func(state string) func(*sparkv1.SparkApplication) {
		return func(app *sparkv1.SparkApplication) {
			app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: state, LastTransitionTime: "2026-03-01T12:00:00Z"}
		}
	}
	undecodable := func(app *sparkv1.SparkApplication) { app.Undecodable = "spec.sparkConf" }
	deleted := func(app *sparkv1.SparkApplication) { app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start} }
	newer := func(app *sparkv1.SparkApplication) { app.Status.Firesteel = &v1alpha1.Record{Format: 99} }
	lost := LostRecord{Last: applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), At: applicationtest.Start}
	pruned := lost
	pruned.Pruned = true
	often := lost
	often.Times = 3
	same := func(app *sparkv1.SparkApplication) {
		app.Status = *lost.Last.(*sparkv1.SparkApplication).Status.DeepCopy()
		app.Status.Firesteel = nil
	}
	type changes []func(*sparkv1.SparkApplication)
	for name, test := range map[string]struct {
		app       changes
		situation Situation
		want      Step
	}{
		"new":                                                 {nil, Situation{New: true}, Begin},
		"without a status, of unknown age":                    {nil, Situation{}, Adopt},
		"of another operator":                                 {changes{foreign("RunningHealthy")}, Situation{}, Adopt},
		"of another operator, and finished":                   {changes{foreign("ResourceReleased")}, Situation{}, LeaveFinished},
		"undecodable":                                         {changes{undecodable}, Situation{New: true}, ReportUndecodable},
		"of a newer version":                                  {changes{newer}, Situation{}, LeaveUnknown},
		"of a newer version, and undecodable":                 {changes{newer, undecodable}, Situation{}, LeaveUnknown},
		"whose loss was not handled":                          {nil, Situation{LossPending: true, New: true}, AwaitLoss},
		"whose record was removed":                            {nil, Situation{Lost: lost}, Restore},
		"whose record another operator replaced":              {changes{foreign("Failed")}, Situation{Lost: lost}, AwaitOtherOperator},
		"which the other operator left alone since":           {changes{foreign("Failed")}, Situation{Lost: lost, Now: applicationtest.Start.Add(OtherOperatorQuiet)}, Adopt},
		"whose record another writer dropped":                 {changes{same}, Situation{Lost: lost}, Restore},
		"whose record another operator drops again and again": {changes{same}, Situation{Lost: often}, AwaitOtherOperator},
		"whose record it dropped often, and deleted":          {changes{same, deleted}, Situation{Lost: often}, Restore},
		"whose record it dropped often, and left alone since": {changes{same}, Situation{Lost: often, Now: applicationtest.Start.Add(OtherOperatorQuiet)}, Restore},
		"whose status is removed again and again":             {nil, Situation{Lost: often}, Restore},
		"whose record was replaced, and deleted":              {changes{foreign("Failed"), deleted}, Situation{Lost: lost}, Release},
		"whose record is not stored":                          {changes{foreign("Failed")}, Situation{Lost: pruned, PrunedFor: time.Second}, AwaitDefinition},
		"whose record may be stored now":                      {changes{foreign("Failed")}, Situation{Lost: pruned}, Restore},
		"whose record is not stored, and deleted":             {changes{deleted}, Situation{Lost: pruned, PrunedFor: time.Second}, Release},
		"new, whose first record is not stored, and so":       {nil, Situation{New: true, PrunedFor: time.Second}, AwaitDefinition},
	} {
		t.Run(name, func(t *testing.T) {
			app := applicationtest.Pi().Obj()
			for _, change := range test.app {
				change(app)
			}
			v, s := applicationtest.Viewed(app), test.situation
			s.App, s.Dialect, s.Policy = app, apache.New(apache.Defaults{}), v.Policy
			if s.Now.IsZero() {
				s.Now = applicationtest.Start
			}
			if got := Decide(s); got != test.want {
				t.Errorf("Decide returned %s, want %s", got, test.want)
			}
		})
	}
}
