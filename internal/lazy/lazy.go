// Package lazy makes values when they are first used. Each command line of kubectl spark is a process, and would wait for those that it does not
// use. Pure packages hold no lock of their own.
package lazy

import (
	"regexp"
	"sync"
)

// Value returns a function that makes a value at its first call, and returns it from then on.
func Value[T any](create func() T) func() T { return sync.OnceValue(create) }

// Regexp returns a function that returns a compiled expression. The function panics if the expression is invalid.
func Regexp(expression string) func() *regexp.Regexp {
	return Value(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
