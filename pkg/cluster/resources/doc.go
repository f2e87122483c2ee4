// Package resources builds the objects of a standalone Spark cluster from its spec: StatefulSets, Services and so on.
// It talks to no server.
package resources
