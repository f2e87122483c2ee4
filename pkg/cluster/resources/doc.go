// Package resources builds the objects of a standalone Spark cluster: spec in, StatefulSets, Services and what belongs to
// them out. It talks to no server.
package resources
