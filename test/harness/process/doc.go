// Package process runs programs for tests: a [Process] runs until it is killed, and a [Supervisor] starts each of its programs
// again when it ends.
package process
