// Package recorded builds an object of each kind in each state, with the status that Firesteel writes, for tests of what other tools
// make of it: Argo CD, Flux, Argo Workflows, Airflow. The statuses come from the projections of the dialects, so they cannot go stale.
package recorded
