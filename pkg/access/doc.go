// Package access holds the words for what a user may read: rights as roles have them, and why something is refused. Package review asks the
// API server.
package access
