// Package config reads the operator's settings from the config maps of its namespace. A reconcile uses one immutable snapshot of them.
//
//	config.go                    all settings together, one parser for each ConfigMap; reads keys, and words their errors
//	read.go                      all settings from ConfigMaps, for programs that do not follow them
//	store.go, watch.go           the snapshot of a reconcile; follows the ConfigMaps, those of namespaces, too
//	scope.go                     config-scope: which namespaces and objects are served
//	defaults.go                  config-defaults
//	kubeflow.go                  config-kubeflow
//	early.go                     config-early
//	ui_settings.go               the keys about the UIs of drivers, which these three have
//	clusters.go                  config-clusters
//	events.go                    config-events
//	handlers.go                  config-handlers: where each handler runs
//	namespaces.go                config-namespaces: what a namespace gets
//	admission.go                 config-admission: the rules of the admin, and quotas
//	archive.go, event_logs.go    config-archive; its keys about event logs of Spark
//	console.go                   config-console
//	namespace_defaults.go        which keys a namespace may set for itself, and how they replace the installation's
package config
