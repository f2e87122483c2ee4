package events

// Type is one kind of event.
type Type struct {
	// Name is the event's type attribute. A breaking change of its data gets a new version, as a new type.
	Name string
	// State is the lifecycle state whose beginning the event tells. A clock event has none.
	State string
	// Cluster says that the state is a standalone cluster's; else it is an application's.
	Cluster bool
	// Description is for the people who subscribe.
	Description string
	// EndsAttempt says that the event can be the end of an attempt; then its data says how the attempt ended.
	EndsAttempt bool
}

// Clock says that the event tells that time has come, rather than that something happened.
func (t Type) Clock() bool { return t.State == "" }

// Schema is the address of the JSON schema of the event's data.
func (t Type) Schema() string { return schemaBase + t.Name + ".schema.json" }

const schemaBase = "https://firesteel.dev/schemas/events/"

// ExpiredType is the type of the clock event that says that an application's time to live is over.
const ExpiredType = "dev.firesteel.application.expired.v1"

// DueType is the type of the clock event that says that a schedule's run is due.
const DueType = "dev.firesteel.schedule.due.v1"

// Resource is the plural name of the kinds that the event can be about.
func (t Type) Resource() string {
	switch {
	case t.Name == DueType:
		return "scheduledsparkapplications"
	case t.Cluster:
		return "sparkclusters"
	default:
		return "sparkapplications"
	}
}

// Types is the contract: every event that Firesteel sends. What is published of it (package reference) is made from it.
var Types = []Type{
	{
		Name: "dev.firesteel.application.submitted.v1", State: "Submitted",
		Description: "The application was accepted; its first attempt is about to start.",
	},
	{
		Name: "dev.firesteel.application.scheduled-to-restart.v1", State: "ScheduledToRestart",
		Description: "Another attempt is going to start, as soon as the previous one is gone and its back-off is over.",
	},
	{
		Name: "dev.firesteel.application.driver-requested.v1", State: "DriverRequested",
		Description: "The driver Pod was requested from the API server.",
	},
	{
		Name: "dev.firesteel.application.driver-started.v1", State: "DriverStarted",
		Description: "The driver's container runs.",
	},
	{
		Name: "dev.firesteel.application.driver-ready.v1", State: "DriverReady",
		Description: "The driver is ready.",
	},
	{
		Name:        "dev.firesteel.application.initialized-below-threshold-executors.v1",
		State:       "InitializedBelowThresholdExecutors",
		Description: "Some executors run, fewer than the application asks for at its start.",
	},
	{
		Name: "dev.firesteel.application.running-healthy.v1", State: "RunningHealthy",
		Description: "The application runs with the executors that it asks for.",
	},
	{
		Name: "dev.firesteel.application.running-with-partial-capacity.v1", State: "RunningWithPartialCapacity",
		Description: "The application runs with enough executors, and fewer than it could use.",
	},
	{
		Name:        "dev.firesteel.application.running-with-below-threshold-executors.v1",
		State:       "RunningWithBelowThresholdExecutors",
		Description: "The application runs, and has lost so many executors that it is below its minimum.",
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
		Description: "The attempt ended: the driver started and did not become ready in time.",
	},
	{
		Name: "dev.firesteel.application.succeeded.v1", State: "Succeeded", EndsAttempt: true,
		Description: "The attempt ended well.",
	},
	{
		Name: "dev.firesteel.application.failed.v1", State: "Failed", EndsAttempt: true,
		Description: "The attempt ended: the driver failed.",
	},
	{
		Name: "dev.firesteel.application.scheduling-failure.v1", State: "SchedulingFailure", EndsAttempt: true,
		Description: "The attempt ended: what it needs could not be created.",
	},
	{
		Name: "dev.firesteel.application.driver-evicted.v1", State: "DriverEvicted", EndsAttempt: true,
		Description: "The attempt ended: the driver Pod was evicted.",
	},
	{
		Name: "dev.firesteel.application.resource-released.v1", State: "ResourceReleased",
		Description: "The application has ended and its resources are released.",
	},
	{
		Name:        "dev.firesteel.application.terminated-without-release-resources.v1",
		State:       "TerminatedWithoutReleaseResources",
		Description: "The application has ended and its resources are kept, as its spec asks.",
	},
	{
		Name: "dev.firesteel.application.suspending.v1", State: "Suspending",
		Description: "The application is to be suspended: its driver is being deleted.",
	},
	{
		Name: "dev.firesteel.application.suspended.v1", State: "Suspended",
		Description: "The application is suspended: no driver runs until it is resumed.",
	},
	{
		Name: "dev.firesteel.application.resuming.v1", State: "Resuming",
		Description: "The application is to run again after a suspension.",
	},
	{
		Name: "dev.firesteel.application.invalidating.v1", State: "Invalidating",
		Description: "The spec was edited: the attempt that runs the old one is being stopped.",
	},
	{
		Name: "dev.firesteel.application.unknown.v1", State: "Unknown",
		Description: "The driver's node stopped reporting: what the driver does is not known.",
	},
	{
		Name: "dev.firesteel.cluster.submitted.v1", State: "Submitted", Cluster: true,
		Description: "The cluster was accepted, or is created anew since the spec of one that had ended was edited.",
	},
	{
		Name: "dev.firesteel.cluster.running-healthy.v1", State: "RunningHealthy", Cluster: true,
		Description: "The cluster is ready: its master answers, and the workers that are needed are registered. It is told again " +
			"when a degraded cluster recovers.",
	},
	{
		Name: "dev.firesteel.cluster.degraded.v1", State: "Degraded", Cluster: true,
		Description: "The cluster is not ready any more: its master does not answer, or has fewer workers than are needed.",
	},
	{
		Name: "dev.firesteel.cluster.failed.v1", State: "Failed", Cluster: true, EndsAttempt: true,
		Description: "The attempt ended: the master did not come to answer, or the spec can never run.",
	},
	{
		Name: "dev.firesteel.cluster.scheduling-failure.v1", State: "SchedulingFailure", Cluster: true, EndsAttempt: true,
		Description: "The attempt ended: an object that the cluster needs was refused.",
	},
	{
		Name: "dev.firesteel.cluster.resource-released.v1", State: "ResourceReleased", Cluster: true,
		Description: "The cluster has ended and nothing is left of it.",
	},
	{
		Name:        ExpiredType,
		Description: "The application's time to live is over: whoever answers deletes it.",
	},
	{
		Name: DueType,
		Description: "A run of the schedule is due: whoever answers starts it, as the concurrency policy has it, and deletes what " +
			"the history limits leave over. It is sent again when runs end that the limits leave over.",
	},
}

// KindCluster is the kind of standalone clusters. All other transitions are of applications.
const KindCluster = "SparkCluster"

// TypeForState is the type of the event that tells the beginning of a lifecycle state of an object of a kind.
func TypeForState(kind, state string) (Type, bool) {
	for _, t := range Types {
		if t.State == state && !t.Clock() && t.Cluster == (kind == KindCluster) {
			return t, true
		}
	}
	return Type{}, false
}

// TypeByName is the type with a name, as an event's type attribute has it.
func TypeByName(name string) (Type, bool) {
	for _, t := range Types {
		if t.Name == name {
			return t, true
		}
	}
	return Type{}, false
}

// The extension attributes of an event, all of them strings, for the filters of Triggers.
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
