package api

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/spark"
)

const (
	// Prefix begins all paths.
	Prefix = "/api/firesteel/v1"
	// TokenHeader holds the value of the header Authorization where a proxy removes that one, as the API server does.
	TokenHeader = "X-Firesteel-Authorization"
	// Clusters is the resource of clusters.
	Clusters = "sparkclusters." + spark.GroupName
)

// Namespaces are the namespaces of which the caller may list applications.
type Namespaces struct {
	Items []string `json:"items"`
}

// Applications is a page of applications of one namespace, the newest first.
type Applications struct {
	Items []Application `json:"items"`
	// Continue is the parameter that asks for the next page. It is empty after the last one. A page may be short before that.
	Continue string `json:"continue,omitempty"`
}

// Application is an application whose attempts are archived.
type Application struct {
	Namespace string `json:"namespace"`
	// Resource is the plural and the group of the kind.
	Resource   string            `json:"resource"`
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Name       string            `json:"name"`
	UID        string            `json:"uid"`
	Labels     map[string]string `json:"labels,omitempty"`
	Created    time.Time         `json:"created"`
	// Ended is when its last attempt ended.
	Ended *time.Time `json:"ended,omitempty"`
	// Attempt is the number of its last attempt, from 0.
	Attempt int64  `json:"attempt"`
	State   string `json:"state,omitempty"`
	// Outcome is Succeeded or Failed.
	Outcome string `json:"outcome,omitempty"`
	Message string `json:"message,omitempty"`
}

// Details are an application and its attempts.
type Details struct {
	Application
	Attempts []Attempt `json:"attempts"`
}

// Attempt is what is archived of one attempt.
type Attempt struct {
	Attempt       int64  `json:"attempt"`
	ApplicationID string `json:"applicationID,omitempty"`
	// Began, Ended and Archived are missing while the attempt is not archived to its end.
	Began    *time.Time `json:"began,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Archived *time.Time `json:"archived,omitempty"`
	State    string     `json:"state,omitempty"`
	Outcome  string     `json:"outcome,omitempty"`
	Message  string     `json:"message,omitempty"`
	Logs     []Log      `json:"logs,omitempty"`
	Objects  []Object   `json:"objects,omitempty"`
	// Missing says what could not be archived, and why.
	Missing []Missing `json:"missing,omitempty"`
	// Usage is what the attempt used.
	Usage json.RawMessage `json:"usage,omitempty"`
}

// Log describes an archived log.
type Log struct {
	Pod       string `json:"pod"`
	PodUID    string `json:"podUID"`
	Container string `json:"container"`
	Restart   int32  `json:"restart"`
	// Role is driver, executor, sidecar or init.
	Role string     `json:"role,omitempty"`
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`
	// Bytes is its size with timestamps.
	Bytes            int64 `json:"bytes"`
	BeginningMissing bool  `json:"beginningMissing,omitempty"`
	// Missing says what is missing, and why.
	Missing string `json:"missing,omitempty"`
}

// Object describes an archived object.
type Object struct {
	// File is the last element of its path.
	File string `json:"file"`
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Missing is something that could not be archived.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// EventLogs are the files of Spark's event log of an attempt.
type EventLogs struct {
	Items []EventLog `json:"items"`
}

// EventLog is a file of Spark's event log.
type EventLog struct {
	Path     string    `json:"path"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// Error is the answer to a request that failed.
type Error struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// ApplicationsPath returns the path of the applications of a namespace, below which all others are.
func ApplicationsPath(namespace string) string {
	return path("namespaces", namespace, "applications")
}

// NamedPath returns the path of the applications that had a name.
func NamedPath(namespace, resource, name string) string {
	return path("namespaces", namespace, "applications", resource, name)
}

// Path returns the path of an application.
func (a *Application) Path() string {
	return path("namespaces", a.Namespace, "applications", a.Resource, a.Name, a.UID)
}

// ObjectPath returns the path of an object of an attempt.
func (a *Application) ObjectPath(attempt int64, file string) string {
	return a.attemptPath(attempt, "objects", file)
}

// LogPath returns the path of a log of an attempt.
func (a *Application) LogPath(attempt int64, log Log) string {
	return a.attemptPath(attempt, "logs", log.Pod, log.PodUID, log.Container, fmt.Sprint(log.Restart))
}

// EventLogsPath returns the path of the event logs of an attempt.
func (a *Application) EventLogsPath(attempt int64) string { return a.attemptPath(attempt, "eventlogs") }

func (a *Application) attemptPath(attempt int64, below ...string) string {
	return path(append([]string{"namespaces", a.Namespace, "applications", a.Resource, a.Name, a.UID, "attempts", fmt.Sprint(attempt)}, below...)...)
}
