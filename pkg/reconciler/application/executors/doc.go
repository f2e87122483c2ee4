// Package executors follows the executor Pods of applications. It counts the ready ones, and holds the details that a status
// shows, the times and requests of those that no record has counted, and those that have ended and still exist.
package executors
