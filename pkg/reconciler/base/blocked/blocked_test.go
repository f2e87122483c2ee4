package blocked

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func contextWithRecorder(t *testing.T) (context.Context, *record.FakeRecorder) {
	recorder := record.NewFakeRecorder(9)
	return controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), recorder), recorder
}

func podOf(uid types.UID, generation int64) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Generation: generation}}
}

func TestReportsAreMadeOncePerGenerationAndReason(t *testing.T) {
	ctx, recorder := contextWithRecorder(t)
	var reports Reports
	for i, test := range []struct {
		uid        types.UID
		generation int64
		reason     string
		want       bool
	}{
		{"a", 1, "Undecodable", true},
		{"a", 1, "Undecodable", false},
		{"a", 1, "NotAdopted", true},
		{"a", 2, "NotAdopted", true},
		{"a", 2, "NotAdopted", false},
		{"b", 2, "NotAdopted", true},
	} {
		shown := false
		err := reports.Report(ctx, podOf(test.uid, test.generation), test.reason, "Correct it.", func() error {
			shown = true
			return nil
		})
		if err != nil || shown != test.want || (len(recorder.Events) == 1) != test.want {
			t.Errorf("report %d is made: %t, with %d Events: %v", i, shown, len(recorder.Events), err)
		}
		for len(recorder.Events) > 0 {
			<-recorder.Events
		}
	}
	reports.Forget("b")
	reports.NotUnderstood(ctx, podOf("b", 2), diagnosis.NewerFormat(2))
	if len(recorder.Events) != 1 {
		t.Error("a forgotten object is not reported again")
	}
}

func TestReportThatFailsIsMadeAgain(t *testing.T) {
	ctx, _ := contextWithRecorder(t)
	var reports Reports
	away := errors.New("connection refused")
	calls := 0
	for _, want := range []error{away, nil, nil} {
		err := reports.Report(ctx, podOf("a", 1), "Undecodable", "Correct it.", func() error {
			calls++
			return want
		})
		if !errors.Is(err, want) {
			t.Errorf("the error is %v, want %v", err, want)
		}
	}
	if calls != 2 {
		t.Errorf("it is shown %d times, want 2", calls)
	}
}

func TestDeletedObjectWaitsForTheVersionThatUnderstandsItsRecord(t *testing.T) {
	ctx, _ := contextWithRecorder(t)
	pod := podOf("a", 1)
	pod.DeletionTimestamp = &metav1.Time{Time: start}
	newer := &v1alpha1.Record{Format: v1alpha1.Format + 1}
	grace := config.Default().Events.DeletionGrace
	if requeue, after := controller.IsRequeueKey(AwaitNewerVersion(ctx, pod, newer, start.Add(time.Second))); !requeue || after != grace-time.Second {
		t.Errorf("requeued: %t after %s, want %s", requeue, after, grace-time.Second)
	}
	if err := AwaitNewerVersion(ctx, pod, newer, start.Add(grace)); err != nil {
		t.Errorf("after the grace period it still waits: %v", err)
	}
}

func TestPrunedObjectIsLeftAloneForAWhile(t *testing.T) {
	ctx, recorder := contextWithRecorder(t)
	var pruned Pruned
	if pruned.Has("a") || pruned.Wait("a", start) > 0 {
		t.Error("an object that was never pruned waits")
	}
	err := pruned.Report(ctx, podOf("a", 1), "things.example.org", "config/things.yaml", start, nil)
	if requeue, after := controller.IsRequeueKey(err); !requeue || after != PrunedRetryAfter || len(recorder.Events) != 1 {
		t.Errorf("it ends with %v and %d Events", err, len(recorder.Events))
	}
	for since, want := range map[time.Duration]time.Duration{
		0: PrunedRetryAfter, PrunedRetryAfter / 2: PrunedRetryAfter / 2, PrunedRetryAfter: 0, 2 * PrunedRetryAfter: 0,
	} {
		if wait := pruned.Wait("a", start.Add(since)); wait != want || !pruned.Has("a") {
			t.Errorf("after %s it waits for %s, want %s", since, wait, want)
		}
	}
	if pruned.Has("another") || pruned.Wait("another", start) > 0 {
		t.Error("another object of the same name waits")
	}
	if pruned.Forget("a"); pruned.Has("a") || pruned.Wait("a", start) > 0 {
		t.Error("a forgotten object waits")
	}
}

func TestPrunedRecordIsRecognized(t *testing.T) {
	full := &v1alpha1.Record{}
	full.Attempt.Spec = &v1alpha1.AttemptSpec{}
	for name, test := range map[string]struct {
		stored *v1alpha1.Record
		want   bool
	}{
		"all of it is stored":               {full.DeepCopy(), false},
		"all of it is dropped":              {nil, true},
		"what this version adds is dropped": {&v1alpha1.Record{}, true},
	} {
		if got := IsPruned(full, test.stored); got != test.want {
			t.Errorf("%s: it is pruned: %t", name, got)
		}
	}
	invalid := apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "a", nil)
	if !IsRefused(invalid, true) || IsRefused(invalid, false) || IsRefused(errors.New("connection refused"), true) {
		t.Error("a refusal of the first record is not recognized")
	}
}
