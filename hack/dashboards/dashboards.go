package main

import (
	"fmt"
	"strings"
)

// dashboard is a dashboard, with the panels that show one number first.
type dashboard struct {
	name, title, description string
	// perNamespace lets the reader choose a namespace, as $namespace.
	perNamespace bool
	panels       []panel
}

type kind int

const (
	graph kind = iota
	stat       // shows the last value as a number
)

type panel struct {
	kind                     kind
	title, description, unit string
	queries                  []query
}

type query struct{ expr, legend string }

// rateInterval is the range of rates, which fits the distance of the points that Grafana draws.
const rateInterval = `[$__rate_interval]`

// series selects the series of the installations and jobs that the reader chooses. An installation is the namespace of its controller,
// which Prometheus writes into the label namespace. matchers select further.
func series(metric string, matchers ...string) string {
	return metric + "{" + strings.Join(append([]string{`namespace=~"$installation"`, `job=~"$job"`}, matchers...), ", ") + "}"
}

// inNamespace selects the series of the namespace that the reader chooses.
const inNamespace = `k8s_namespace_name="$namespace"`

// queues selects the work queues of Firesteel. Other programs have metrics with the same names.
const queues = `name=~"github.com.firesteel-dev.firesteel.+"`

// rate is what a counter grows by each second.
func rate(counter string, matchers ...string) string {
	return "rate(" + series(counter, matchers...) + rateInterval + ")"
}

// ofControllers leaves out the processes that are no controller. Their metrics have the same names, and a job may have all Pods.
func ofControllers(expr string) string {
	return expr + " and on (job, instance) " + series("firesteel_application_wait_longest_seconds")
}

// once takes a gauge that is the same in each replica of an installation from one of them, and adds the installations and the APIs up.
func once(by, gauge string) string {
	return fmt.Sprintf("sum by (%s) (max by (%[1]s, namespace, otel_scope_name) (%s))", by, gauge)
}

func total(gauge string) string {
	return fmt.Sprintf("sum(max by (namespace, k8s_namespace_name, otel_scope_name) (%s)) or vector(0)", gauge)
}

// rare is a query of what does not happen in a healthy run. It shows zero until it happens.
func rare(expr, legend string) query { return query{expr + " or vector(0)", legend} }

// quantiles are the median and the slowest of a histogram.
func quantiles(histogram string, matchers ...string) []query {
	var all []query
	for _, q := range []struct{ q, legend string }{{"0.5", "median"}, {"0.95", "95%"}, {"0.99", "99%"}} {
		all = append(all, query{fmt.Sprintf("histogram_quantile(%s, sum by (le) (%s))", q.q, rate(histogram+"_bucket", matchers...)), q.legend})
	}
	return all
}

func number(title, description, unit, expr string) panel {
	return panel{kind: stat, title: title, description: description, unit: unit, queries: []query{{expr, ""}}}
}

func lines(title, description, unit string, queries ...query) panel {
	return panel{kind: graph, title: title, description: description, unit: unit, queries: queries}
}

var dashboards = []dashboard{overview, namespace, delivery}

var overview = dashboard{
	name: "overview", title: "Firesteel / Overview", description: "All applications, and the controller.",
	panels: []panel{
		number("Replicas", "Controllers that Prometheus reads.", "none",
			`count(count by (instance) (`+series("firesteel_application_wait_longest_seconds")+`))`),
		number("Running", "Applications that run.", "none", total(series("firesteel_namespace_applications", `firesteel_phase="Running"`))),
		number("Waiting", "Applications that wait until they run.", "none",
			total(series("firesteel_namespace_applications", `firesteel_phase="Waiting"`))),
		number("Longest wait", "Of an application that is not suspended and waits for no restart.", "s",
			`max(`+series("firesteel_application_wait_longest_seconds", `firesteel_state!="ScheduledToRestart"`)+`)`),
		number("Events pending", "Events that the sink has not acknowledged.", "none", `sum(`+series("firesteel_events_pending")+`) or vector(0)`),
		number("Clusters", "Standalone clusters, in all states.", "none",
			`sum(max by (namespace, firesteel_state) (`+series("firesteel_clusters")+`)) or vector(0)`),

		lines("Applications by state", "", "none", query{once("firesteel_state", series("firesteel_applications")), "{{firesteel_state}}"}),
		lines("Transitions", "Transitions each second, by the state that began.", "ops",
			query{`sum by (firesteel_state) (` + rate("firesteel_application_transitions_total") + `)`, "{{firesteel_state}}"}),
		lines("Attempts that ended", "In one hour, by how they ended.", "none",
			query{`sum by (firesteel_state) (` + inAnHour("firesteel_namespace_attempts_ended_total") + `)`, "{{firesteel_state}}"}),
		lines("Longest wait by state", "", "s",
			query{`max by (firesteel_state) (` + series("firesteel_application_wait_longest_seconds") + `)`, "{{firesteel_state}}"}),
		lines("Start of drivers", "From the request of a driver to its next state.", "s",
			quantiles("firesteel_application_transition_duration_seconds", `firesteel_from="DriverRequested"`)...),
		lines("Detection", "From the change of a driver Pod to the status that shows it.", "s",
			quantiles("firesteel_application_detection_duration_seconds")...),
		lines("Busiest namespaces", "The ten with the most running applications.", "none",
			query{"topk(10, " + once("k8s_namespace_name", series("firesteel_namespace_applications", `firesteel_phase="Running"`)) + ")", "{{k8s_namespace_name}}"}),

		lines("Queue", "Keys that wait for a reconcile.", "none", query{`sum by (name) (` + series("workqueue_depth", queues) + `)`, "{{name}}"}),
		lines("Wait in the queue", "", "s", quantiles("workqueue_queue_duration_seconds", queues)...),
		lines("Reconcile", "Time that a reconcile takes.", "s", quantiles("workqueue_work_duration_seconds", queues)...),
		lines("Retries", "Keys that are reconciled again after an error.", "ops",
			query{`sum by (name) (` + rate("workqueue_retries_total", queues) + `)`, "{{name}}"}),
		lines("Requests to the API server", "", "reqps",
			query{`sum by (firesteel_verb) (` + rate("firesteel_api_requests_total") + `)`, "{{firesteel_verb}}"}),
		lines("Answers of the API server", "Without a code: no answer.", "reqps",
			query{`sum by (http_response_status_code) (` + rate("firesteel_api_requests_total") + `)`, "{{http_response_status_code}}"}),
		lines("Time of requests", "95% of the requests to the API server took at most this time.", "s",
			query{`histogram_quantile(0.95, sum by (le, verb) (` + ofControllers(rate("rest_client_request_duration_seconds_bucket")) + `))`, "{{verb}}"}),
		lines("Leases", "1: a replica leads. 0: none does.", "none",
			query{`sum by (namespace, name) (` + ofControllers(series("leader_election_master_status")) + `)`, "{{namespace}} {{name}}"}),
		lines("CPU", "", "none", query{ofControllers(rate("process_cpu_seconds_total")), "{{instance}}"}),
		lines("Memory", "", "bytes", query{ofControllers(series("process_resident_memory_bytes")), "{{instance}}"},
			query{ofControllers(series("go_memstats_heap_inuse_bytes")), "{{instance}} heap"}),
	},
}

func phaseNumber(phase, description string) panel {
	return number(phase, description, "none", total(series("firesteel_namespace_applications", inNamespace, `firesteel_phase="`+phase+`"`)))
}

// ended is how many attempts ended in an hour, in the namespace that the reader chooses.
func ended(matchers ...string) string {
	return inAnHour("firesteel_namespace_attempts_ended_total", append([]string{inNamespace}, matchers...)...)
}

var namespace = dashboard{
	name: "namespace", title: "Firesteel / Namespace", description: "The applications of one namespace.", perNamespace: true,
	panels: []panel{
		phaseNumber("Running", "Applications that run."),
		phaseNumber("Waiting", "Applications that wait until they run."),
		phaseNumber("Suspended", "Applications that a user suspended."),
		phaseNumber("Ended", "Applications that ended and are still there."),
		lines("Applications", "By phase.", "none",
			query{once("firesteel_phase", series("firesteel_namespace_applications", inNamespace)), "{{firesteel_phase}}"}),
		lines("Attempts that ended", "In one hour, by how they ended.", "none", query{`sum by (firesteel_state) (` + ended() + `)`, "{{firesteel_state}}"}),
		lines("Share of failures", "Of the attempts that ended in one hour.", "percentunit",
			rare(`sum(`+ended(`firesteel_state!="Succeeded"`)+`) / (sum(`+ended()+`) > 0)`, "failed")),
	},
}

// inAnHour and inADay are what a counter grew by.
func inAnHour(counter string, matchers ...string) string {
	return "increase(" + series(counter, matchers...) + "[1h])"
}
func inADay(counter string) string { return "increase(" + series(counter) + "[1d])" }

var delivery = dashboard{
	name: "delivery", title: "Firesteel / Delivery and handlers", description: "Events, handlers and schedules.",
	panels: []panel{
		number("Events pending", "Events that the sink has not acknowledged.", "none", `sum(`+series("firesteel_events_pending")+`) or vector(0)`),
		number("Events rejected", "In one day: events that were skipped.", "none", `sum(`+inADay("firesteel_events_rejected_total")+`) or vector(0)`),
		number("Handlers awaited", "Events that a handler has not acted on.", "none", `sum(`+series("firesteel_handlers_awaited")+`) or vector(0)`),
		number("Runs missed", "In one day.", "none", `sum(`+inADay("firesteel_schedule_runs_missed_total")+`) or vector(0)`),
		lines("Events sent", "Sends that the sink acknowledged, each second.", "ops",
			rare(`sum by (cloudevents_event_type) (`+rate("firesteel_events_sent_total")+`)`, "{{cloudevents_event_type}}")),
		lines("Sends that failed", "They are repeated.", "ops",
			rare(`sum by (cloudevents_event_type) (`+rate("firesteel_events_failed_total")+`)`, "{{cloudevents_event_type}}")),
		lines("Delivery", "From a transition to the acknowledgement of its event.", "s", delivered()...),
		lines("Events pending by replica", "", "none", rare(`sum by (instance) (`+series("firesteel_events_pending")+`)`, "{{instance}}")),
		lines("Handlers awaited by handler", "Events that a handler has not acted on.", "none",
			rare(`sum by (firesteel_handler) (`+series("firesteel_handlers_awaited")+`)`, "{{firesteel_handler}}")),
		lines("Handlers overdue", "Events that a handler has not acted on for minutes, in one hour.", "none",
			rare(`sum by (firesteel_handler) (`+inAnHour("firesteel_handlers_overdue_total")+`)`, "{{firesteel_handler}}")),
		lines("Delay of runs", "From the instant at which a run was due to its application. 95% took at most this time.", "s",
			rare(`histogram_quantile(0.95, sum by (le, firesteel_group) (rate(`+series("firesteel_schedule_run_delay_seconds_bucket")+`[1h])))`, "{{firesteel_group}}")),
		lines("Runs missed", "In one hour.", "none",
			rare(`sum by (firesteel_group) (`+inAnHour("firesteel_schedule_runs_missed_total")+`)`, "{{firesteel_group}}")),
		lines("Runs refused", "In one hour.", "none",
			rare(`sum by (firesteel_group) (`+inAnHour("firesteel_schedule_runs_refused_total")+`)`, "{{firesteel_group}}")),
	},
}

func delivered() []query {
	all := quantiles("firesteel_events_delivery_duration_seconds")
	for i, q := range all {
		all[i] = rare(q.expr, q.legend)
	}
	return all
}
