package application

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
)

// The schema of another operator may want what Firesteel's first status lacks. A later status that is refused was not
// refused by it.
func TestFirstStatusThatAnotherCRDRefusesIsReported(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "SparkApplication"}, "pi", nil)
	broken := errors.New("connection refused")
	for name, test := range map[string]struct {
		app     *applicationtest.Application
		refusal error
		foreign bool
	}{
		"the first one, refused as invalid":       {app: applicationtest.Pi(), refusal: invalid, foreign: true},
		"the first one, refused for other causes": {app: applicationtest.Pi(), refusal: broken},
		"a later one, refused as invalid":         {app: applicationtest.Pi().In(lifecycle.Submitted, 1, 1), refusal: invalid},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			spark := sparkfake.NewSimpleClientset(app.DeepCopy())
			spark.PrependReactor("update", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, test.refusal
			})
			r := &Reconciler{api: applications.Apache(spark), clock: applicationtest.ClockAt(applicationtest.Start), recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)}
			recorder := record.NewFakeRecorder(1)
			err := r.write(controller.WithEventRecorder(t.Context(), recorder), applicationtest.Viewed(app), app.DeepCopy())
			if again, wait := controller.IsRequeueKey(err); again != test.foreign || again && wait != blocked.PrunedRetryAfter {
				t.Errorf("the error is %v, and the wait %s", err, wait)
			}
			if !test.foreign && !errors.Is(err, test.refusal) {
				t.Errorf("the error is %v, not %v", err, test.refusal)
			}
			if told := len(recorder.Events) > 0; told != test.foreign {
				t.Errorf("a Kubernetes Event is told: %t", told)
			}
		})
	}
}
