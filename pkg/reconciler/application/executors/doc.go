// Package executors follows the executor Pods of applications: it counts those that are ready, and holds the details that a status
// shows.
package executors
