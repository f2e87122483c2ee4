// Package outbox holds the rules for the transitions of a record. It numbers and bounds them, and drops those that are acknowledged and
// not needed any more. The lifecycles decide which transitions there are. The package is pure.
package outbox
