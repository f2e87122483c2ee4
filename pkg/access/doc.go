// Package access holds the words for what a user may read: rights as roles have them, why something is refused, names of
// users and groups, and the token that says who asks. Package review asks the API server.
package access
