// Package pages renders the pages of the console: HTML that reads without scripts, and that scripts keep up to date. It reads what Source has, as
// far as a Viewer may see it.
//
//	pages.go                routes, and what each request needs
//	source.go               what the pages need of the cluster and of the viewer
//	layout.go               what all pages share; rendering
//	format.go               times, durations, numbers and states for people
//	rows.go                 a row of a table
//	overview.go             the first page
//	list.go                 the table of all kinds, as HTML and CSV
//	application.go          one application, and its tabs
//	manifest.go             its YAML and its Kubernetes Events, read with the viewer's identity
//	plan.go                 how what runs differs from what it and the settings make
//	log.go                  the logs of its Pods
//	archived_list.go        the table of what the archive has of a namespace
//	archived_application.go one application as the archive has it
//	archived_log.go         its logs
//	archived_cluster.go     one cluster as the archive has it
//	actions.go              what a viewer may do with an object
//	timeline.go             attempts and transitions as SVG
//	chart.go                curves, as SVG and as data for uPlot
//	schedules.go            schedules and their calendar
//	clusters.go             clusters
//	compare.go              two applications side by side, and which others one may be compared with
//	compared_specs.go       the fields of two specs that differ
//	stream.go               server-sent events
//	problems.go             sign-in and errors
//
// What users wrote is only ever text: html/template escapes it, and nothing is marked as safe. There are no inline scripts or styles, so that a
// Content-Security-Policy without them holds.
package pages
