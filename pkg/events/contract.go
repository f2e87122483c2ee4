package events

// Type is one kind of event.
type Type struct {
	// Name is the event's type attribute. A breaking change of the data makes a new type with a new version.
	Name string
	// State is the lifecycle state that begins with the event. It is empty for a clock event.
	State string
	// Cluster reports whether the state is a standalone cluster's. Otherwise it is an application's.
	Cluster bool
	// Description is published for subscribers.
	Description string
	// EndsAttempt reports whether the event ends an attempt. Its data then says how the attempt ended.
	EndsAttempt bool
}

// Clock reports whether the type is a clock event: an instant was reached. Other events are transitions.
func (t Type) Clock() bool { return t.State == "" }

// Schema returns the URL of the JSON schema for the event's data.
func (t Type) Schema() string { return schemaBase + t.Name + ".schema.json" }

const schemaBase = "https://firesteel.dev/schemas/events/"

// ExpiredType is the type of the clock event for the end of an application's time to live.
const ExpiredType = "dev.firesteel.application.expired.v1"

// InterruptedType is the type of the clock event for an attempt that is about to be stopped before its end.
const InterruptedType = "dev.firesteel.application.interrupted.v1"

// DueType is the type of the clock event for a scheduled run that is due.
const DueType = "dev.firesteel.schedule.due.v1"

// NamespaceRequestedType is the type of the clock event for a namespace that asks for what drivers need.
const NamespaceRequestedType = "dev.firesteel.namespace.requested.v1"

// Resource returns the plural resource name of the event's objects.
func (t Type) Resource() string {
	switch {
	case t.Name == DueType:
		return "scheduledsparkapplications"
	case t.Name == NamespaceRequestedType:
		return namespaceResource
	case t.Cluster:
		return "sparkclusters"
	default:
		return "sparkapplications"
	}
}

// Types is the contract: every event that Firesteel sends. Package reference generates the published documents from it.
var Types = []Type{
	{
		Name: "dev.firesteel.application.submitted.v1", State: "Submitted",
		Description: "The application was accepted. Its first attempt is about to start.",
	},
	{
		Name: "dev.firesteel.application.scheduled-to-restart.v1", State: "ScheduledToRestart",
		Description: "Another attempt starts as soon as the previous driver is gone and the back-off is over.",
	},
	{
		Name: "dev.firesteel.application.driver-requested.v1", State: "DriverRequested",
		Description: "The driver Pod was requested from the API server.",
	},
	{
		Name: "dev.firesteel.application.driver-started.v1", State: "DriverStarted",
		Description: "The driver container is running.",
	},
	{
		Name: "dev.firesteel.application.driver-ready.v1", State: "DriverReady",
		Description: "The driver is ready.",
	},
	{
		Name:        "dev.firesteel.application.initialized-below-threshold-executors.v1",
		State:       "InitializedBelowThresholdExecutors",
		Description: "Some executors are running, but fewer than the application requests at its start.",
	},
	{
		Name: "dev.firesteel.application.running-healthy.v1", State: "RunningHealthy",
		Description: "The application is running with the executors that it requests.",
	},
	{
		Name: "dev.firesteel.application.running-with-partial-capacity.v1", State: "RunningWithPartialCapacity",
		Description: "The application is running with enough executors, but fewer than it could use.",
	},
	{
		Name:        "dev.firesteel.application.running-with-below-threshold-executors.v1",
		State:       "RunningWithBelowThresholdExecutors",
		Description: "The application is running, but has lost so many executors that it is below its minimum.",
	},
	{
		Name: "dev.firesteel.application.driver-start-timed-out.v1", State: "DriverStartTimedOut", EndsAttempt: true,
		Description: "The attempt ended: the driver did not start in time.",
	},
	{
		Name:  "dev.firesteel.application.executors-start-timed-out.v1",
		State: "ExecutorsStartTimedOut", EndsAttempt: true,
		Description: "The attempt ended: too few executors started in time.",
	},
	{
		Name: "dev.firesteel.application.driver-ready-timed-out.v1", State: "DriverReadyTimedOut", EndsAttempt: true,
		Description: "The attempt ended: the driver started, but did not become ready in time.",
	},
	{
		Name: "dev.firesteel.application.succeeded.v1", State: "Succeeded", EndsAttempt: true,
		Description: "The attempt ended with success.",
	},
	{
		Name: "dev.firesteel.application.failed.v1", State: "Failed", EndsAttempt: true,
		Description: "The attempt ended: the driver failed.",
	},
	{
		Name: "dev.firesteel.application.scheduling-failure.v1", State: "SchedulingFailure", EndsAttempt: true,
		Description: "The attempt ended: an object that it needs could not be created.",
	},
	{
		Name: "dev.firesteel.application.driver-evicted.v1", State: "DriverEvicted", EndsAttempt: true,
		Description: "The attempt ended: the driver Pod was evicted.",
	},
	{
		Name: "dev.firesteel.application.resource-released.v1", State: "ResourceReleased",
		Description: "The application has ended and its resources are deleted.",
	},
	{
		Name:        "dev.firesteel.application.terminated-without-release-resources.v1",
		State:       "TerminatedWithoutReleaseResources",
		Description: "The application has ended and its resources are retained, as its spec requests.",
	},
	{
		Name: "dev.firesteel.application.suspending.v1", State: "Suspending",
		Description: "The application is being suspended: its driver is being deleted.",
	},
	{
		Name: "dev.firesteel.application.suspended.v1", State: "Suspended",
		Description: "The application is suspended: no driver runs until it is resumed.",
	},
	{
		Name: "dev.firesteel.application.resuming.v1", State: "Resuming",
		Description: "The application is about to run again after a suspension.",
	},
	{
		Name: "dev.firesteel.application.invalidating.v1", State: "Invalidating",
		Description: "The spec was edited: the attempt that runs the old spec is being stopped.",
	},
	{
		Name: "dev.firesteel.application.unknown.v1", State: "Unknown",
		Description: "The driver's node stopped reporting: the driver's state is unknown.",
	},
	{
		Name: "dev.firesteel.cluster.submitted.v1", State: "Submitted", Cluster: true,
		Description: "The cluster was accepted, or it had ended and starts again since its spec was edited.",
	},
	{
		Name: "dev.firesteel.cluster.running-healthy.v1", State: "RunningHealthy", Cluster: true,
		Description: "The cluster is ready: its master answers, and enough workers are registered. The event is also " +
			"published when a degraded cluster recovers.",
	},
	{
		Name: "dev.firesteel.cluster.degraded.v1", State: "Degraded", Cluster: true,
		Description: "The cluster is not ready any more: its master does not answer, or too few workers are registered.",
	},
	{
		Name: "dev.firesteel.cluster.failed.v1", State: "Failed", Cluster: true, EndsAttempt: true,
		Description: "The attempt ended: the master did not answer in time, or the spec can never run.",
	},
	{
		Name: "dev.firesteel.cluster.scheduling-failure.v1", State: "SchedulingFailure", Cluster: true, EndsAttempt: true,
		Description: "The attempt ended: an object that it needs could not be created.",
	},
	{
		Name: "dev.firesteel.cluster.resource-released.v1", State: "ResourceReleased", Cluster: true,
		Description: "The cluster has ended and its objects are deleted.",
	},
	{
		Name:        ExpiredType,
		Description: "The application's time to live is over. The ttl handler deletes it.",
	},
	{
		Name: InterruptedType,
		Description: "An attempt is about to be stopped before its end, by a suspension, an edit or a deletion. That waits a moment, so that the archive " +
			"handler can store the attempt. The event is sent only if there is an archive.",
	},
	{
		Name: DueType,
		Description: "A run of the schedule is due. The schedule handler starts it according to the concurrency policy, and deletes " +
			"the runs beyond the history limits. The event is sent again when a run ends that is beyond these limits.",
	},
	{
		Name: NamespaceRequestedType,
		Description: "A namespace has the label `firesteel.dev/workloads: enabled` and no RoleBinding `spark-driver-accounts`. The namespace handler, which is " +
			"off by default, creates what drivers need there. The instant is the creation of the namespace.",
	},
}

// KindCluster is the kind of standalone clusters. All other transitions belong to applications.
const KindCluster = "SparkCluster"

// TypeForState returns the type of the event that begins a lifecycle state of an object of the kind.
func TypeForState(kind, state string) (Type, bool) {
	for _, t := range Types {
		if t.State == state && !t.Clock() && t.Cluster == (kind == KindCluster) {
			return t, true
		}
	}
	return Type{}, false
}

// TypeByName returns the type with the name, which is an event's type attribute.
func TypeByName(name string) (Type, bool) {
	for _, t := range Types {
		if t.Name == name {
			return t, true
		}
	}
	return Type{}, false
}

// The extension attributes of an event. All are strings, so that Triggers can filter by them.
const (
	ExtensionSequence       = "sequence"
	ExtensionKind           = "sparkkind"
	ExtensionNamespace      = "sparknamespace"
	ExtensionName           = "sparkname"
	ExtensionState          = "sparkstate"
	ExtensionAttempt        = "sparkattempt"
	ExtensionOutcome        = "sparkoutcome"
	ExtensionRestartAllowed = "sparkrestartallowed"
	ExtensionFinal          = "sparkfinal"
)
