// Package schedule keeps the clock of schedules, of both kinds: at each instant at which a run is due it
// asks the handler to start it, and again until the schedule shows that it did; and it tells in the status how the
// schedule and its runs stand. What is due, missed and kept is decided by pkg/schedule.
//
// While nothing is due it asks nothing of the API server.
package schedule
