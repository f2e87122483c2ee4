package schedule

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// The CustomResourceDefinition may be another operator's: it drops the record, or refuses it.
func TestAScheduleWithAPrunedRecordIsLeftAloneForAMinute(t *testing.T) {
	invalid := apierrors.NewInvalid(v1alpha1.SchemeGroupVersion.WithKind("ScheduledSparkApplication").GroupKind(), "pi", nil)
	for name, refusal := range map[string]error{"it is dropped": nil, "it is refused": invalid} {
		t.Run(name, func(t *testing.T) {
			st := newEnv(t, hourly())
			st.client.PrependReactor("update", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
				s := action.(clienttesting.UpdateAction).GetObject().(*v1alpha1.ScheduledSparkApplication).DeepCopy()
				s.Status.Firesteel = nil
				return true, s, refusal
			})
			recorder := record.NewFakeRecorder(9)
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), recorder)
			for _, test := range []struct {
				after, wait time.Duration
				requests    string
				events      int
			}{
				{0, time.Minute, wrote, 1},
				{10 * time.Second, 50 * time.Second, "", 0}, // the write changed the schedule, so it is reconciled at once
				{time.Minute, time.Minute, wrote, 1},
			} {
				st.clock.SetTime(due.Add(test.after))
				st.client.ClearActions()
				requeue, wait := controller.IsRequeueKey(st.Reconciler.reconcile(ctx, hourly()))
				if !requeue || wait != test.wait || st.requests() != test.requests || len(recorder.Events) != test.events {
					t.Errorf("after %s it asked for %q with %d Events and waits for %s", test.after, st.requests(), len(recorder.Events), wait)
				}
				for len(recorder.Events) > 0 {
					if event := <-recorder.Events; !strings.Contains(event, "config/300-scheduledsparkapplication.yaml") {
						t.Errorf("the Event is %q", event)
					}
				}
			}
			if len(st.publisher.asked) > 0 {
				t.Errorf("the handler is asked for %v", st.publisher.asked)
			}
		})
	}
}

func TestUndecodableScheduleIsReportedOnceAndWithoutSecrets(t *testing.T) {
	st := newEnv(t, hourly())
	recorder := record.NewFakeRecorder(9)
	ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), recorder)
	odd := &v1alpha1.ScheduledSparkApplication{ObjectMeta: hourly().ObjectMeta, Undecodable: "spec is no object in https://user:hunter2@example.org"}
	for range 2 {
		if err := st.Reconciler.reconcile(ctx, odd.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	if st.requests() != "patch scheduledsparkapplications" || len(recorder.Events) != 1 {
		t.Errorf("it asked for %q, with %d Events", st.requests(), len(recorder.Events))
	}
	s, err := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(ctx, "pi", metav1.GetOptions{})
	if err != nil || !strings.Contains(s.Status.Reason, "spec is no object") || strings.Contains(s.Status.Reason, "hunter2") {
		t.Errorf("the reason is %q: %v", s.Status.Reason, err)
	}
}
