// Package outbox keeps the transitions of a record: numbered, bounded, and dropped once they are told and nobody needs
// them any more. Each lifecycle decides what its transitions are; here is what they have in common. It is pure.
package outbox
