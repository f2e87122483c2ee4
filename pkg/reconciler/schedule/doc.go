// Package schedule reconciles the schedules of both kinds. When a run is due it asks the handler to start it, again and again until
// the schedule shows the run. It writes the state of the schedule and its runs to the status. pkg/schedule decides what is due,
// missed and kept.
//
// While nothing is due it makes no request to the API server.
package schedule
