// Package schedule reconciles the schedules of both kinds. When a run is due, it asks the handler to start it, and
// repeats the request until the schedule shows the run. It writes the state of the schedule and its runs to the
// status. pkg/schedule decides which runs are due, missed and retained.
//
// While nothing is due it makes no request to the API server.
package schedule
