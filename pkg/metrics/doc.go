// Package metrics has what the metrics of several kinds share. Its test writes the reference page of all metrics, and checks
// that the page matches the code. The metrics themselves are in the packages below.
package metrics
