// Package adoption decides what to do with an application without a usable record: another operator left it, another writer
// removed its record, or it is new. An application with a usable record does not need this package.
package adoption
