package live

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Ref names an object.
type Ref struct {
	Namespace string `json:"namespace"`
	// Resource is the plural and the group of the kind, such as sparkapplications.spark.apache.org.
	Resource string `json:"resource"`
	Name     string `json:"name"`
}

// Visible is what a user may see. It does not change.
type Visible interface {
	// Sees reports whether the user may list the objects of a resource, such as sparkapplications.spark.apache.org, in a namespace.
	Sees(namespace, resource string) bool
}

// Outcome sums up the states of all APIs: waiting, running, succeeded or failed.
type Outcome = overview.Phase

// Row is an object in a list. It is shared by all readers, so it is never changed.
type Row struct {
	Ref
	APIVersion string `json:"apiVersion"`
	// Kind is the Kind of the object, such as SparkApplication, and Noun the same for all APIs: application, cluster or schedule.
	Kind string        `json:"kind"`
	Noun overview.Kind `json:"noun"`
	UID  types.UID     `json:"uid"`
	// ResourceVersion is that of the object, for the precondition of an action.
	ResourceVersion string `json:"resourceVersion"`
	// Labels are the object's.
	Labels map[string]string `json:"labels,omitempty"`
	// Team and User are the values of the labels, or else of the annotations, that config-console names.
	Team string `json:"team,omitempty"`
	User string `json:"user,omitempty"`

	// State is that of the status, New if it shows none.
	State   string  `json:"state"`
	Outcome Outcome `json:"outcome"`
	// Over reports whether an application has ended and no attempt follows.
	Over bool `json:"over,omitempty"`
	// Attempt is the number of the attempt from 0; negative if there is none.
	Attempt int64 `json:"attempt"`
	// Reason is a word in CamelCase: that of the main condition. It is empty if it says no more than the state.
	Reason string `json:"reason,omitempty"`
	// Cause is the cause that pkg/diagnosis/why finds, of an object that waits or failed.
	Cause string `json:"cause,omitempty"`
	// Sentence says why the object is where it is; empty if it goes well. Remedy says what to do, and Command applies it; both may be empty.
	Sentence string `json:"sentence,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
	Command  string `json:"command,omitempty"`
	// Deleting reports whether the object is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Suspended reports whether the spec holds the application or the schedule.
	Suspended bool `json:"suspended,omitempty"`
	// Foreign reports whether another operator runs the object: its status has no record.
	Foreign bool `json:"foreign,omitempty"`

	Created time.Time `json:"created"`
	// Since is when the state began. Started is when the driver of the attempt began to run, Ended when the attempt ended. Zero if unknown.
	Since   time.Time `json:"since,omitzero"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`

	// Schedule is the name of the schedule that started the application; empty if none did. Due is the time that the run is for.
	Schedule string    `json:"schedule,omitempty"`
	Due      time.Time `json:"due,omitzero"`
	// Executors counts executors, or the workers of a cluster.
	Executors Executors `json:"executors,omitzero"`
	// DriverPod is the name of the driver Pod, and ApplicationID what Spark calls the attempt.
	DriverPod     string `json:"driverPod,omitempty"`
	ApplicationID string `json:"applicationID,omitempty"`
	// Usage is what all attempts used; nil if it is not counted.
	Usage *Usage `json:"usage,omitempty"`
	// Requested is what the Pods request that have not ended.
	Requested Resources `json:"requested,omitzero"`
	// Held is what the application waits for in the queue of its quota; nil if it waits for none.
	Held *Held `json:"held,omitempty"`
	// Unacknowledged counts the transitions that the event sink has not accepted as far as the record shows, and UnacknowledgedSince is when the
	// first of these was. The record is behind the sink by up to a minute: see Undelivered.
	Unacknowledged      int       `json:"unacknowledged,omitempty"`
	UnacknowledgedSince time.Time `json:"unacknowledgedSince,omitzero"`
	// RejectedEvents counts the events that the sink refused for good.
	RejectedEvents int64 `json:"rejectedEvents,omitempty"`

	// Runs describes a schedule; nil for other kinds.
	Runs *Runs `json:"runs,omitempty"`
}

// Executors counts the executors of the current attempt.
type Executors struct {
	// Asked is how many the spec asks for at the start. Most is the most that dynamic allocation may ask for, if it has a limit.
	Asked int64 `json:"asked,omitempty"`
	Most  int64 `json:"most,omitempty"`
	// Pending wait for a node or their start, Running run, and Lost failed or disappeared.
	Pending int `json:"pending,omitempty"`
	Running int `json:"running,omitempty"`
	Lost    int `json:"lost,omitempty"`
}

// Resources are requests.
type Resources struct {
	MilliCPU  int64 `json:"milliCPU,omitempty"`
	Mebibytes int64 `json:"mebibytes,omitempty"`
	GPUs      int64 `json:"gpus,omitempty"`
}

// Usage is requests by time.
type Usage struct {
	CoreSeconds     int64 `json:"coreSeconds"`
	MebibyteSeconds int64 `json:"mebibyteSeconds"`
	GPUSeconds      int64 `json:"gpuSeconds,omitempty"`
	// PeakExecutors is how many executors of one attempt ran at once, at most.
	PeakExecutors int64 `json:"peakExecutors,omitempty"`
	// GapSeconds is for how many seconds Pods may have run that are not counted.
	GapSeconds int64 `json:"gapSeconds,omitempty"`
	// Cost is what it costs by the prices of config-console; nil if there are none.
	Cost *Cost `json:"cost,omitempty"`
}

// Cost is what usage costs.
type Cost struct {
	Cores    float64 `json:"cores"`
	Memory   float64 `json:"memory"`
	GPUs     float64 `json:"gpus"`
	Total    float64 `json:"total"`
	Currency string  `json:"currency"`
}

// Held is an application in the queue of its quota.
type Held struct {
	Since     time.Time `json:"since"`
	Pods      int64     `json:"pods"`
	Resources Resources `json:"resources"`
}

// Runs describes a schedule.
type Runs struct {
	// Expression is the schedule, TimeZone the zone in which people read it.
	Expression string `json:"expression"`
	TimeZone   string `json:"timeZone"`
	// Next is when the next run is due, and Last when the last one was started; zero if there is none.
	Next time.Time `json:"next,omitzero"`
	Last time.Time `json:"last,omitzero"`
	// LastName is the name of the last run.
	LastName string `json:"lastName,omitempty"`
	// Active counts the runs that have not ended, Missed those that were not started.
	Active int   `json:"active"`
	Missed int64 `json:"missed,omitempty"`
}

// deliveryDelay is how far a record may be behind the event sink, and lateAfter how long a run may be due before its schedule is late.
const deliveryDelay, lateAfter = time.Minute, time.Minute

// Undelivered returns how many events the sink has not accepted in time.
func (r *Row) Undelivered(now time.Time) int {
	if r.Unacknowledged == 0 || now.Sub(r.UnacknowledgedSince) < deliveryDelay {
		return 0
	}
	return r.Unacknowledged
}

// Late returns for how long the next run of a schedule has been due; zero if it is in time.
func (r *Row) Late(now time.Time) time.Duration {
	if r.Runs == nil || r.Suspended || r.Runs.Next.IsZero() || now.Sub(r.Runs.Next) < lateAfter {
		return 0
	}
	return now.Sub(r.Runs.Next)
}

// Duration returns how long the attempt has run, or ran; zero if it did not start.
func (r *Row) Duration(now time.Time) time.Duration {
	switch {
	case r.Started.IsZero():
		return 0
	case r.Ended.IsZero():
		return max(now.Sub(r.Started), 0)
	default:
		return max(r.Ended.Sub(r.Started), 0)
	}
}

// Page is a part of the rows that a query selects.
type Page struct {
	Rows []*Row `json:"rows"`
	// Total is how many rows the filter selects. Newer is how many further ones were created after AsOf.
	Total int `json:"total"`
	Newer int `json:"newer,omitempty"`
	// Cursor is where the changes begin that the page does not have.
	Cursor uint64 `json:"cursor"`
}

// Transition is a step of an application.
type Transition struct {
	Sequence int64     `json:"sequence"`
	Attempt  int64     `json:"attempt"`
	At       time.Time `json:"at"`
	// Lasted is how long the state lasted, or lasts, in milliseconds.
	Lasted  int64   `json:"lastedMillis"`
	State   string  `json:"state"`
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message,omitempty"`
	// WaitedFor says what the application waited for in the state; empty if it did not wait.
	WaitedFor string `json:"waitedFor,omitempty"`
	// Event is the id of the CloudEvent and EventType its type; empty if there is none, since another operator runs the application. Delivery says
	// whether the sink accepted it.
	Event     string   `json:"event,omitempty"`
	EventType string   `json:"eventType,omitempty"`
	Delivery  Delivery `json:"delivery"`
}

// Delivery is what is known of the delivery of an event.
type Delivery string

// The deliveries.
const (
	Delivered       Delivery = "delivered"
	DeliveryPending Delivery = "pending"
	DeliveryUnknown Delivery = "unknown"
)

// Attempt is an attempt of an application.
type Attempt struct {
	Attempt       int64  `json:"attempt"`
	ApplicationID string `json:"applicationID,omitempty"`
	DriverPod     string `json:"driverPod,omitempty"`
	// Began is the time of its first transition that is known, Started when its driver began to run, Ended its end. Zero if unknown.
	Began   time.Time `json:"began"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Outcome is running or waiting before the end.
	Outcome Outcome `json:"outcome"`
	// Class, ExitCode, Reason and Message are those of the end.
	Class       string       `json:"class,omitempty"`
	ExitCode    *int32       `json:"exitCode,omitempty"`
	Reason      string       `json:"reason,omitempty"`
	Message     string       `json:"message,omitempty"`
	Usage       *Usage       `json:"usage,omitempty"`
	Transitions []Transition `json:"transitions"`
}

// Reason is one cause of the state, the most likely one first.
type Reason struct {
	Cause    string `json:"cause"`
	Summary  string `json:"summary"`
	Evidence string `json:"evidence,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
	Command  string `json:"command,omitempty"`
	// Beside reports whether the application goes on in spite of it.
	Beside bool `json:"beside,omitempty"`
}

// Condition is a condition of the status.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// Pod is a Pod of an object.
type Pod struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	// Role is driver, executor, master or worker. Number is the executor's.
	Role   string `json:"role"`
	Number string `json:"number,omitempty"`
	// Earlier reports whether it is the driver of an earlier attempt.
	Earlier bool   `json:"earlier,omitempty"`
	Phase   string `json:"phase"`
	Ready   bool   `json:"ready"`
	// Reason and Message say what it waits for, or how it ended.
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	ExitCode *int32 `json:"exitCode,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
	Node     string `json:"node,omitempty"`
	// IP is the address of the Pod.
	IP         string    `json:"ip,omitempty"`
	Created    time.Time `json:"created"`
	Scheduled  time.Time `json:"scheduled,omitzero"`
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	Requests   Resources `json:"requests,omitzero"`
	Containers []string  `json:"containers"`
}

// ExecutorCount is how many executors there were from an instant on.
type ExecutorCount struct {
	At time.Time `json:"at"`
	Executors
}

// Details are an application.
type Details struct {
	Row *Row `json:"row"`
	// Reasons say why the application is where it is.
	Reasons []Reason `json:"reasons"`
	// Attempts are those that the record has, the newest last. Earlier reports whether there were more before.
	Attempts   []Attempt   `json:"attempts"`
	Earlier    bool        `json:"earlier,omitempty"`
	Conditions []Condition `json:"conditions"`
	// Pods are the driver's and the executors' of the attempt, and the drivers of earlier ones. Without the right to list Pods there are none.
	Pods []Pod `json:"pods"`
	// PodsHidden reports whether the user may not list Pods.
	PodsHidden bool `json:"podsHidden,omitempty"`
	// Executors is how many executors there were over time, in the current attempt.
	Executors []ExecutorCount `json:"executorsOverTime"`
	// Cursor is where the changes begin that the details do not have.
	Cursor uint64 `json:"cursor"`
}

// ScheduleDetails are a schedule.
type ScheduleDetails struct {
	Row         *Row        `json:"row"`
	Conditions  []Condition `json:"conditions"`
	Concurrency string      `json:"concurrency"`
	// Runs are the applications that there are of it, the newest first.
	Runs []Run `json:"runs"`
	// Next are the coming runs. It is empty while the schedule is suspended or refused.
	Next   []time.Time `json:"next"`
	Cursor uint64      `json:"cursor"`
}

// Run is a run of a schedule.
type Run struct {
	Schedule Ref `json:"schedule"`
	// Due is when it is, or was, to start. Delay is how much later its application was created, in milliseconds.
	Due   time.Time `json:"due"`
	Delay int64     `json:"delayMillis,omitempty"`
	// Row is the application; nil for a coming run.
	Row *Row `json:"row,omitempty"`
}

// ClusterDetails are a cluster.
type ClusterDetails struct {
	Row        *Row        `json:"row"`
	Reasons    []Reason    `json:"reasons"`
	Conditions []Condition `json:"conditions"`
	// Pods are the master's and the workers'.
	Pods       []Pod `json:"pods"`
	PodsHidden bool  `json:"podsHidden,omitempty"`
	// Users are the applications whose driver names the cluster's master.
	Users  []*Row `json:"users"`
	Cursor uint64 `json:"cursor"`
}

// Overview is a summary of what a user may see.
type Overview struct {
	// Total counts all of it, Namespaces by namespace, and Teams by the team label.
	Total      Counts            `json:"total"`
	Namespaces map[string]Counts `json:"namespaces"`
	Teams      map[string]Counts `json:"teams"`
	// Series is how many applications ran and waited over time, from KnownSince on: what was deleted before is not known.
	Series     []Load    `json:"series"`
	KnownSince time.Time `json:"knownSince"`
	// Causes count the applications that failed since the beginning, by the cause.
	Causes []CauseCount `json:"causes"`
	// Late are the schedules whose run is overdue, the latest first. Undelivered are applications with undelivered events.
	Late        []*Row `json:"late"`
	Undelivered []*Row `json:"undelivered"`
	// Feed are the last transitions, the newest first.
	Feed   []FeedItem `json:"feed"`
	Cursor uint64     `json:"cursor"`
}

// Counts are numbers of applications, and what they request.
type Counts struct {
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	// Succeeded and Failed ended since the beginning.
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// Held wait for quota. HeldResources is what these ask for, Requested what the Pods of the others request.
	Held          int       `json:"held"`
	HeldResources Resources `json:"heldResources"`
	Requested     Resources `json:"requested"`
	// Undelivered is how many events were not delivered in time.
	Undelivered int `json:"undelivered"`
	// Late is how many schedules are late.
	Late int `json:"late"`
	// Usage is what the counted applications used since each of them began, in all of their attempts.
	Usage Usage `json:"usage,omitzero"`
}

// Load is how many applications ran and waited from an instant on.
type Load struct {
	At      time.Time `json:"at"`
	Running int       `json:"running"`
	Waiting int       `json:"waiting"`
}

// CauseCount is how many applications failed for a cause.
type CauseCount struct {
	Cause string `json:"cause"`
	Count int    `json:"count"`
	// Last is the one that failed last.
	Last *Row `json:"last"`
}

// FeedItem is a transition of some application.
type FeedItem struct {
	Ref
	Noun    overview.Kind `json:"noun"`
	UID     types.UID     `json:"uid"`
	Attempt int64         `json:"attempt"`
	At      time.Time     `json:"at"`
	State   string        `json:"state"`
	Outcome Outcome       `json:"outcome"`
	Message string        `json:"message,omitempty"`
}

// Change is a change of an object.
type Change struct {
	Ref
	UID types.UID `json:"uid"`
	// Row is the object now; nil if it is gone.
	Row *Row `json:"row,omitempty"`
	// Transitions are those that are new.
	Transitions []FeedItem `json:"transitions,omitempty"`
}

// Changes are what changed after a cursor.
type Changes struct {
	// Items has each object once.
	Items []*Change `json:"items"`
	// Cursor is where the next ones begin.
	Cursor uint64 `json:"cursor"`
	// Missed reports whether there were too many: everything is to be read again.
	Missed bool `json:"missed,omitempty"`
	// StaleSince is since when the API server does not answer; zero if it does.
	StaleSince time.Time `json:"staleSince,omitzero"`
}
