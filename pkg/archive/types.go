package archive

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Format is the format of the descriptions that this version writes.
const Format = 1

// Namespace is a namespace. Another one with the same name has another uid.
type Namespace struct {
	Name string
	UID  types.UID
}

// ID identifies an application, or a cluster.
type ID struct {
	Namespace Namespace
	// Resource is the plural and the group, such as sparkapplications.spark.apache.org or sparkclusters.spark.apache.org.
	Resource string
	Name     string
	UID      types.UID
}

// MaxLabels bounds the labels in the description of an application.
const MaxLabels = 64

// Application describes an application, or a cluster.
type Application struct {
	Format       int               `json:"format"`
	Namespace    string            `json:"namespace"`
	NamespaceUID types.UID         `json:"namespaceUID"`
	Resource     string            `json:"resource"`
	APIVersion   string            `json:"apiVersion"`
	Kind         string            `json:"kind"`
	Name         string            `json:"name"`
	UID          types.UID         `json:"uid"`
	Labels       map[string]string `json:"labels,omitempty"`
	Created      time.Time         `json:"created"`
	// Ended is when its last attempt ended; nil if that is not known.
	Ended *time.Time `json:"ended,omitempty"`
	// Attempt is the number of its last attempt that the archive knows, from 0.
	Attempt int64 `json:"attempt"`
	// State is how that attempt ended, as in the record; empty while the first attempt runs.
	State string `json:"state,omitempty"`
	// Outcome is Succeeded or Failed.
	Outcome string `json:"outcome,omitempty"`
	// Message explains the end to people.
	Message string `json:"message,omitempty"`
}

// ID returns what identifies the application.
func (a Application) ID() ID {
	return ID{Namespace: Namespace{a.Namespace, a.NamespaceUID}, Resource: a.Resource, Name: a.Name, UID: a.UID}
}

// Manifest describes what is stored of an attempt. It is written last.
type Manifest struct {
	Format  int   `json:"format"`
	Attempt int64 `json:"attempt"`
	// ApplicationID is spark.app.id.
	ApplicationID string `json:"applicationID,omitempty"`
	// Began and Ended are the times of the attempt, and Archived is when it was archived.
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended"`
	Archived time.Time `json:"archived"`
	State    string    `json:"state"`
	Outcome  string    `json:"outcome,omitempty"`
	Message  string    `json:"message,omitempty"`
	Logs     []Log     `json:"logs,omitempty"`
	Objects  []Object  `json:"objects,omitempty"`
	// Missing says what could not be stored. It is empty if nothing is missing.
	Missing []Missing `json:"missing,omitempty"`
}

// Usage is what the Pods of an attempt used.
type Usage struct {
	Format int `json:"format"`
	// Until is until when Pods are counted that had not ended.
	Until time.Time `json:"until"`
	// Attempt is what the Pods of the attempt used, until the end of the last executor.
	Attempt v1alpha1.Usage `json:"attempt"`
	// Application is what the Pods of this attempt and of all earlier ones used.
	Application v1alpha1.Usage `json:"application"`
	// ClosedGapSeconds is the gap of the attempt that was closed from Spark's event log.
	ClosedGapSeconds int64 `json:"closedGapSeconds,omitempty"`
}

// The roles of logs.
const (
	RoleDriver   = "driver"
	RoleExecutor = "executor"
	RoleMaster   = "master"
	RoleWorker   = "worker"
	RoleSidecar  = "sidecar"
	RoleInit     = "init"
)

// LogID identifies the log of a container that ran once.
type LogID struct {
	Pod       string    `json:"pod"`
	PodUID    types.UID `json:"podUID"`
	Container string    `json:"container"`
	// Restart is how often the container had been restarted before.
	Restart int32 `json:"restart"`
}

func (l LogID) path() []string {
	return []string{logsFolder, l.Pod, string(l.PodUID), l.Container, itoa(int64(l.Restart))}
}

// Log describes a stored log.
type Log struct {
	LogID
	// Role is driver, executor, master or worker for the containers of Spark, and else sidecar or init.
	Role string `json:"role"`
	// From and To are the times of its first and its last line.
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`
	// Bytes is its size, with the kubelet's timestamps.
	Bytes int64 `json:"bytes"`
	// BeginningMissing reports whether lines may be missing at the beginning.
	BeginningMissing bool `json:"beginningMissing,omitempty"`
	// Followed reports whether it was stored while the container ran.
	Followed bool `json:"followed,omitempty"`
	// Missing says what is missing, and why; empty if nothing is.
	Missing string `json:"missing,omitempty"`
}

// Object describes a stored object.
type Object struct {
	// File is its name below objects.
	File string `json:"file"`
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Missing is something that could not be stored.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}
