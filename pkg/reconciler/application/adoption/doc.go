// Package adoption decides what becomes of an application without a usable record: another operator left it, another writer removed
// its record, or it is new. An application with a usable record never comes here.
package adoption
