// Package archive stores what is left of applications and of clusters when their Pods are gone: logs, objects, transitions, Kubernetes Events, event logs of
// Spark and usage. Of a cluster, which has one attempt, it has logs, its object, its transitions and Kubernetes Events. They are in a bucket of S3, Google Cloud Storage or Azure,
// or in a folder. Packages clouds and large make these known; they are for programs.
//
//	layout.go      the keys of everything
//	types.go       what the archive knows of applications, attempts and logs
//	archive.go     opens a bucket; reads and writes single objects
//	application.go the description of an application, and the index by which applications are listed
//	attempt.go     what is stored of one attempt
//	file.go        files that grow: stored in compressed chunks, read by ranges
//	fence.go       keeps apart what writers stored that went on behind different lines
//	event_log.go   which attempts have an event log of Spark
//	log.go         reads logs
//	log_writer.go  writes logs: resumes them, and stores no line twice
//	retention.go   deletes what is old, or too much
//	stores.go      the archives of all namespaces, each opened once
//
// Layout, below the prefix of the bucket:
//
//	<namespace>/<plural>.<group>/<name>/<uid>/application.json
//	<namespace>/<plural>.<group>/<name>/<uid>/<attempt>/manifest.json
//	<namespace>/<plural>.<group>/<name>/<uid>/<attempt>/usage.json
//	<namespace>/<plural>.<group>/<name>/<uid>/<attempt>/objects/<file>
//	<namespace>/<plural>.<group>/<name>/<uid>/<attempt>/logs/<pod>/<pod uid>/<container>/<restart count>/<chunk>
//	<namespace>/<plural>.<group>/<name>/<uid>/<attempt>/eventlog/<file>/<chunk>
//	<namespace>/_index/<namespace uid>/<inverted second of creation>/<plural>.<group>/<name>/<uid>.json
//	<namespace>/_eventlogs/<namespace uid>/<inverted second of creation>/<plural>.<group>/<name>/<uid>/<attempt>.json
//	_firesteel/retention.json
//
// All keys are functions of what is stored, and everything may be written again. A new namespace with the name of an old one inherits nothing:
// application.json holds the uid of the namespace, and readers name the uid that they may read.
package archive
