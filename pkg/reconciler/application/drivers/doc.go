// Package drivers knows the driver Pods of applications: as the informer has them, and those that it does not show yet or any more. It
// reads their logs, and it is the only place that deletes them.
package drivers
