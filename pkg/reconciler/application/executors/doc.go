// Package executors follows the executor Pods of applications. It counts the ready ones, and holds the details that a status
// shows, and the times and requests of those that no record has counted.
package executors
