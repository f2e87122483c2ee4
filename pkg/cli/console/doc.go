// Package console is the verb console: the pages of the console on the user's machine, which pkg/console/local serves.
package console
