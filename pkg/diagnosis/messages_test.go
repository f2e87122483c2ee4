package diagnosis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestMessagesNameTheObjectAndEndWithTheRemedy(t *testing.T) {
	record := &v1alpha1.Record{
		Attempt:     v1alpha1.Attempt{ID: 2, Spec: &v1alpha1.AttemptSpec{Generation: 7}},
		Transitions: []v1alpha1.Transition{{State: "RunningHealthy"}},
	}
	driver := &lifecycle.Driver{Name: "pi-0-driver", Node: "n"}
	held := &lifecycle.Driver{Name: "pi-0-driver", Finalizers: []string{"example.org/a"}}
	for want, is := range map[string]diagnosis.Explanation{
		`Undecodable: The application cannot be decoded, and nothing is done for it: spec.a "x" is no size: write 1g. ` +
			"Correct the field and apply the application again.": diagnosis.Undecodable("application", `spec.a "x" is no size: write 1g.`),
		"AnotherOperatorActive: Another operator runs this application too: it wrote the status and dropped status.firesteel. Firesteel leaves " +
			"the application alone until no other writer has written its status for 1m0s. Stop the other operator, or remove Firesteel.": diagnosis.
			AnotherOperatorActive(time.Minute, now),
		"NotAdopted: The status is another operator's and cannot be understood: status.x is 1. What runs is left alone. " +
			"To run the application with Firesteel, delete it and apply it again.": diagnosis.NotAdopted(errors.New("x is 1")),
		"Adopted: Taken over as it was left: attempt 2, RunningHealthy.": diagnosis.Adopted(record),
		"EarlierDriver: A driver Pod is not the current attempt's. It is deleted, and the application goes on once it is gone: " +
			"pi-0-driver on node n.": diagnosis.EarlierDriver(driver),
		"StatusRestored: status.firesteel was removed, which is the record of what runs; it is restored. " +
			"To start again, delete the application and apply it again.": diagnosis.StatusRestored(),
		"WrongCustomResourceDefinition: The API server does not store status.firesteel: the CustomResourceDefinition d is another operator's, or " +
			"that of an earlier version of Firesteel. Nothing is done for the object. Apply config/d.yaml.": diagnosis.RecordNotStored("d", "config/d.yaml"),
		"TooLargeForStatus: The API server does not store status.firesteel: with it, the object is larger than one request may be. " +
			"Nothing is done for the object. Make its spec smaller.": diagnosis.TooLargeForRecord(),
		"SpecAdopted: metadata.generation is 7: Firesteel cannot know whether spec was edited, since another version of Firesteel recorded the " +
			"spec of attempt 2. The attempt counts as one of the present spec. To run an edit, edit spec again.": diagnosis.SpecAdopted(record),
		"NameNotFree: The launch waits for the name of Service a/b, whose earlier object is not gone yet.": diagnosis.NameNotFree("Service a/b", nil),
		"DriverPodTerminating: The launch waits for the name of an earlier driver Pod, which was deleted and is not gone yet: pi-0-driver on node n. " +
			"If the node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force.": diagnosis.
			EarlierDriverTerminating(driver),
		"DriverPodFinalizers: The launch waits for the name of an earlier driver Pod, which was deleted and is not gone yet: " +
			held.DescribeTerminating() + ".": diagnosis.EarlierDriverTerminating(held),
		"WebhookFailed: The API server cannot call the webhook w.example.org, and refuses what the application needs until it can. " +
			"Start what serves the webhook, or delete its configuration.": diagnosis.WebhookFailed("w.example.org"),
		"WebhookFailed: The API server cannot call the webhook mutate--v1-pod.sparkoperator.k8s.io, and refuses what the application needs until it can. " +
			"It is the Kubeflow operator's. If that operator is gone from this namespace, exclude the namespace in its chart (spark.jobNamespaces), or " +
			"delete its MutatingWebhookConfiguration and ValidatingWebhookConfiguration. See docs/operators/moving-in.md.": diagnosis.
			WebhookFailed("mutate--v1-pod.sparkoperator.k8s.io"),
		"AnotherOperatorFound: The Helm release a/b has CRDs that Firesteel needs: helm uninstall b would delete them, and with them all applications. " +
			"Before you uninstall it, upgrade it to an empty chart, which leaves them: helm -n a upgrade b ./empty. See docs/operators/moving-in.md.": diagnosis.
			CRDsInRelease("a/b"),
		"DriverDeletedByForce: Driver Pod pi-driver was deleted and did not disappear in time, so it is deleted by force. If its node is cut off but " +
			"still runs, the driver may run beside the next one: make sure that the node is down.": diagnosis.DriverDeletedByForce("pi-driver"),
		"EventsUndelivered: The deletion waits for the sink to take 3 event(s), at most 5m0s: 503": diagnosis.
			DeletionWaitsForSink(3, 5*time.Minute, "503"),
		"HandlerOverdue: The handler namespace has not acted for 2 minutes: make sure that it runs, or change where it runs in the ConfigMap " +
			"config-handlers. Last error: 503": diagnosis.SilentHandlerOfNamespace("namespace", "503"),
		"SettingRefused: The previous setting stays in effect. workers is 0":                   diagnosis.SettingRefused(errors.New("workers is 0")),
		"RunsMissed: 2 run(s) were not started in time.":                                       diagnosis.RunsMissed(2),
		"Suspended: spec.suspend holds the creation. To create the cluster, set it to false.":  diagnosis.ClusterSuspended(),
		"Suspended: No run starts while spec.suspend is true. To start runs, set it to false.": diagnosis.Scheduled(nil, true),
	} {
		if got := is.Reason + ": " + is.Message(); got != want {
			t.Errorf("it is  %s\nwant  %s", got, want)
		}
	}
}

func TestALongCauseDoesNotHideTheRemedy(t *testing.T) {
	got := diagnosis.Undecodable("schedule", strings.Repeat("x", 1<<20)).Message()
	if len(got) > 4096 || !strings.HasSuffix(got, "apply the schedule again.") {
		t.Errorf("it has %d bytes and ends with %s", len(got), got[len(got)-100:])
	}
}

func TestRunsOfASchedule(t *testing.T) {
	due := metav1.NewTime(now)
	active := []v1alpha1.RunReference{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	for want, record := range map[string]*v1alpha1.ScheduleRecord{
		"": {},
		"WaitsForRunningRun=False: The run due at 2026-01-01T12:00:00Z waits for the end of a, b, c, 1 more; " +
			"it is missed if the next run is due before that.": {Active: active, Held: &v1alpha1.HeldRun{ScheduledTime: due, Policy: v1alpha1.ConcurrencyForbid}},
		"ReplacesRunningRun=False: The run due at 2026-01-01T12:00:00Z starts when the running run is gone; its deletion was accepted.": {
			Held: &v1alpha1.HeldRun{ScheduledTime: due, Policy: v1alpha1.ConcurrencyReplace},
		},
		"Refused=False: The run due at 2026-01-01T12:00:00Z was not started: No.": {Last: &v1alpha1.ScheduledRun{ScheduledTime: due, Reason: "Refused", Message: "No."}},
		"Started=True: a was started for 2026-01-01T12:00:00Z.":                   {Last: &v1alpha1.ScheduledRun{ScheduledTime: due, Name: "a", UID: "u"}},
	} {
		got := ""
		if condition := diagnosis.RunStarted(record); condition != nil {
			got = condition.Reason + "=" + string(condition.Status) + ": " + condition.Message()
		}
		if got != want {
			t.Errorf("it is  %s\nwant  %s", got, want)
		}
	}
}
