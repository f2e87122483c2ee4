// Package drivers follows the driver Pods of applications: those in the informer's cache, and those that the informer does
// not show yet or any more. It reads their logs. It is the only package that deletes them.
package drivers
