package early

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// visibleStates maps the Kubeflow operator's states to those of the early operator, whose clients know no others. An edit that stops a
// run begins the next one, and applications of this API cannot be suspended.
var visibleStates = map[v1beta2.ApplicationStateType]v1alpha1.ApplicationStateType{
	v1beta2.NewState:              v1alpha1.NewState,
	v1beta2.PendingRerunState:     v1alpha1.NewState,
	v1beta2.InvalidatingState:     v1alpha1.NewState,
	v1beta2.SuspendingState:       v1alpha1.NewState,
	v1beta2.SuspendedState:        v1alpha1.NewState,
	v1beta2.ResumingState:         v1alpha1.NewState,
	v1beta2.SubmittedState:        v1alpha1.SubmittedState,
	v1beta2.RunningState:          v1alpha1.RunningState,
	v1beta2.UnknownState:          v1alpha1.RunningState,
	v1beta2.SucceedingState:       v1alpha1.CompletedState,
	v1beta2.CompletedState:        v1alpha1.CompletedState,
	v1beta2.FailingState:          v1alpha1.FailedState,
	v1beta2.FailedState:           v1alpha1.FailedState,
	v1beta2.FailedSubmissionState: v1alpha1.FailedState,
}

// kubeflowStates is the inverse, for what a status shows already.
var kubeflowStates = map[v1alpha1.ApplicationStateType]v1beta2.ApplicationStateType{
	"":                      v1beta2.NewState,
	v1alpha1.NewState:       v1beta2.NewState,
	v1alpha1.SubmittedState: v1beta2.SubmittedState,
	v1alpha1.RunningState:   v1beta2.RunningState,
	v1alpha1.CompletedState: v1beta2.CompletedState,
	v1alpha1.FailedState:    v1beta2.FailedState,
}

// kubeflowStatus returns a status in terms of the Kubeflow operator's API.
func kubeflowStatus(given v1alpha1.SparkApplicationStatus) v1beta2.SparkApplicationStatus {
	state, known := kubeflowStates[given.AppState.State]
	if !known {
		state = v1beta2.ApplicationStateType(given.AppState.State)
	}
	translated := v1beta2.SparkApplicationStatus{
		LastSubmissionAttemptTime: given.SubmissionTime, TerminationTime: given.CompletionTime,
		DriverInfo: v1beta2.DriverInfo{PodName: given.DriverInfo.PodName},
		AppState:   v1beta2.ApplicationState{State: state, ErrorMessage: given.AppState.ErrorMessage},
		Conditions: given.Conditions, ObservedGeneration: given.ObservedGeneration, Firesteel: given.Firesteel,
	}
	for name, state := range given.ExecutorState {
		if translated.ExecutorState == nil {
			translated.ExecutorState = map[string]v1beta2.ExecutorState{}
		}
		translated.ExecutorState[name] = v1beta2.ExecutorState(state)
	}
	return translated
}

// kubeflowApplication returns an application with its status in terms of the Kubeflow operator's API. It has no spec.
func kubeflowApplication(app *v1alpha1.SparkApplication) *v1beta2.SparkApplication {
	return &v1beta2.SparkApplication{ObjectMeta: app.ObjectMeta, Status: kubeflowStatus(app.Status)}
}

// Project writes a record and the facts into a status.
func Project(app *v1alpha1.SparkApplication, record *firesteelv1alpha1.Record, facts dialect.Facts, s Settings) {
	translated := kubeflowStatus(app.Status)
	status.Project(&translated, record, status.Executors{Seen: facts.Executors, Tracked: s.MaxTrackedExecutors})
	shown := &app.Status
	shown.AppID, shown.Firesteel = AppID(app), record
	shown.AppState = v1alpha1.ApplicationState{
		State: visibleStates[translated.AppState.State], ErrorMessage: translated.AppState.ErrorMessage,
	}
	shown.SubmissionTime, shown.CompletionTime = translated.LastSubmissionAttemptTime, completionTime(translated, record)
	if translated.DriverInfo.PodName == "" { // the next run has not begun
		shown.DriverInfo = v1alpha1.DriverInfo{}
	}
	shown.DriverInfo.PodName = translated.DriverInfo.PodName
	shown.ExecutorState = executorStates(translated.ExecutorState)
	projectUI(app, record.Launch)
	setConditions(app, record, facts)
}

// completionTime returns when the run that is shown ended. In the Kubeflow operator's API, a submission that failed is not an end yet.
func completionTime(translated v1beta2.SparkApplicationStatus, record *firesteelv1alpha1.Record) metav1.Time {
	end := outbox.LastEnd(record)
	if translated.AppState.State != v1beta2.FailedSubmissionState || end == nil {
		return translated.TerminationTime
	}
	return metav1.NewTime(end.Time.Time).Rfc3339Copy()
}

// executorStates returns the states of executors. The early operator has none for an executor whose node does not answer: it runs until
// its end is known.
func executorStates(translated map[string]v1beta2.ExecutorState) map[string]v1alpha1.ExecutorState {
	if translated == nil {
		return nil
	}
	states := make(map[string]v1alpha1.ExecutorState, len(translated))
	for name, state := range translated {
		states[name] = v1alpha1.ExecutorState(state)
		if state == v1beta2.ExecutorUnknownState {
			states[name] = v1alpha1.ExecutorRunningState
		}
	}
	return states
}

// projectUI writes where the driver's UI answers, once its Service was created. The address of a node port may follow when the driver runs.
func projectUI(app *v1alpha1.SparkApplication, launch *firesteelv1alpha1.Launch) {
	info, ui := &app.Status.DriverInfo, lifecycle.UIOf(launch)
	if info.PodName == "" || ui.Port == 0 {
		return
	}
	address := ui.BestAddress()
	info.WebUIServiceName, info.WebUIPort, info.WebUIURL, info.WebUIAddress = UIServiceName(app), ui.Port, address, address
}

var wording = diagnosis.Wording{
	ReadLog: "Its log may say why: kubectl logs has it as long as the driver Pod is kept, and with driver-log-lines in the ConfigMap " +
		"config-kubeflow its last lines are shown here.",
	NeverForced: "If its node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force, " +
		"which force-termination-grace in the ConfigMap config-kubeflow does not allow Firesteel to do.",
	Retained: "is kept as long as the application is, for its log.",
}

func setConditions(app *v1alpha1.SparkApplication, record *firesteelv1alpha1.Record, facts dialect.Facts) {
	shown := &app.Status
	if app.DeletionTimestamp == nil { // a deletion raises the generation, but does not change the spec
		shown.ObservedGeneration = app.Generation
	}
	dialect.SetConditions(&shown.Conditions, shown.ObservedGeneration, record, facts, wording)
}

// hasForeignStatus reports whether an application ended under another operator. No operator of this API can run on a Kubernetes that
// Firesteel supports, so any other status without a record is not that of a driver that runs.
func hasForeignStatus(shown v1alpha1.SparkApplicationStatus) bool {
	return shown.Firesteel == nil && (shown.AppState.State == v1alpha1.CompletedState || shown.AppState.State == v1alpha1.FailedState)
}

// sameVisibleStatus reports whether two statuses show the same to the early operator's clients.
func sameVisibleStatus(a, b v1alpha1.SparkApplicationStatus) bool {
	return equality.Semantic.DeepEqual(visible(a), visible(b))
}

func visible(shown v1alpha1.SparkApplicationStatus) v1alpha1.SparkApplicationStatus {
	shown.Conditions, shown.ObservedGeneration, shown.Firesteel = nil, 0, nil
	return shown
}
