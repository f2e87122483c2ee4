// Package metrics documents all metrics of Firesteel: its test writes the reference page, and holds it to the code. The metrics
// themselves are in the packages below.
package metrics
