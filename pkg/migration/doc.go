// Package migration judges what a cluster with the Kubeflow or the Apache operator would meet if Firesteel took its place: pure, from what
// pkg/cli/migrate has read.
//
//	objects    Examine  -> what Firesteel refuses, warns of or ignores of each object
//	driver     Compare  -> how a driver of the other operator differs from the one that Firesteel would make
//	operator   Kubeflow, Apache -> the settings that take the place of its flags and properties
//	webhooks, definitions, accounts -> what is in the way, and which steps the move has
//
// A Report gathers all of it. Alike findings are one Item, with a count and examples, so that its size does not grow with the cluster.
package migration
