// Package executors follows the executor Pods of applications. It counts the ready ones, and holds the details that a status
// shows.
package executors
