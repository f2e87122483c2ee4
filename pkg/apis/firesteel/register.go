// Package firesteel names Firesteel's own API group.
package firesteel

// GroupName is the API group of what no other operator has.
const GroupName = "firesteel.dev"
