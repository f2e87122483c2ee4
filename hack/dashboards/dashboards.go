package main

import "fmt"

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

// Selectors that several panels have.
const (
	queues       = `{job=~"$job", name=~"github.com.firesteel-dev.firesteel.+"}`
	inNamespace  = `{job=~"$job", k8s_namespace_name="$namespace"%s}`
	rateInterval = `[$__rate_interval]`
)

// once takes a gauge that is the same in each replica from one of them, and adds the APIs up.
func once(by, metric string) string {
	return fmt.Sprintf("sum by (%s) (max by (%[1]s, otel_scope_name) (%s))", by, metric)
}

func total(metric string) string {
	return fmt.Sprintf("sum(max by (k8s_namespace_name, otel_scope_name) (%s)) or vector(0)", metric)
}

// rare is a query of what does not happen in a healthy run. It shows zero until it happens.
func rare(expr, legend string) query { return query{expr + " or vector(0)", legend} }

// quantiles are the median and the slowest of a histogram.
func quantiles(histogram, selector string) []query {
	var all []query
	for _, q := range []struct{ q, legend string }{{"0.5", "median"}, {"0.95", "95%"}, {"0.99", "99%"}} {
		all = append(all, query{fmt.Sprintf("histogram_quantile(%s, sum by (le) (rate(%s_bucket%s%s)))", q.q, histogram, selector, rateInterval), q.legend})
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
		number("Replicas", "Controllers that Prometheus reads.", "none", `count(count by (instance) (firesteel_application_wait_longest_seconds{job=~"$job"}))`),
		number("Running", "Applications that run.", "none", total(`firesteel_namespace_applications{job=~"$job", firesteel_phase="Running"}`)),
		number("Waiting", "Applications that wait until they run.", "none", total(`firesteel_namespace_applications{job=~"$job", firesteel_phase="Waiting"}`)),
		number("Longest wait", "Of an application that is not suspended and waits for no restart.", "s",
			`max(firesteel_application_wait_longest_seconds{job=~"$job", firesteel_state!="ScheduledToRestart"})`),
		number("Events pending", "Events that the sink has not acknowledged.", "none", `sum(firesteel_events_pending{job=~"$job"}) or vector(0)`),
		number("Clusters", "Standalone clusters, in all states.", "none", `sum(max by (firesteel_state) (firesteel_clusters{job=~"$job"})) or vector(0)`),

		lines("Applications by state", "", "none", query{once("firesteel_state", `firesteel_applications{job=~"$job"}`), "{{firesteel_state}}"}),
		lines("Transitions", "Transitions each second, by the state that began.", "ops",
			query{`sum by (firesteel_state) (rate(firesteel_application_transitions_total{job=~"$job"}` + rateInterval + `))`, "{{firesteel_state}}"}),
		lines("Attempts that ended", "In one hour, by how they ended.", "none",
			query{`sum by (firesteel_state) (increase(firesteel_namespace_attempts_ended_total{job=~"$job"}[1h]))`, "{{firesteel_state}}"}),
		lines("Longest wait by state", "", "s",
			query{`max by (firesteel_state) (firesteel_application_wait_longest_seconds{job=~"$job"})`, "{{firesteel_state}}"}),
		lines("Start of drivers", "From the request of a driver to its next state.", "s",
			quantiles("firesteel_application_transition_duration_seconds", `{job=~"$job", firesteel_from="DriverRequested"}`)...),
		lines("Detection", "From the change of a driver Pod to the status that shows it.", "s",
			quantiles("firesteel_application_detection_duration_seconds", `{job=~"$job"}`)...),
		lines("Busiest namespaces", "The ten with the most running applications.", "none",
			query{"topk(10, " + once("k8s_namespace_name", `firesteel_namespace_applications{job=~"$job", firesteel_phase="Running"}`) + ")", "{{k8s_namespace_name}}"}),

		lines("Queue", "Keys that wait for a reconcile.", "none", query{`sum by (name) (workqueue_depth` + queues + `)`, "{{name}}"}),
		lines("Wait in the queue", "", "s", quantiles("workqueue_queue_duration_seconds", queues)...),
		lines("Reconcile", "Time that a reconcile takes.", "s", quantiles("workqueue_work_duration_seconds", queues)...),
		lines("Retries", "Keys that are reconciled again after an error.", "ops", query{`sum by (name) (rate(workqueue_retries_total` + queues + rateInterval + `))`, "{{name}}"}),
		lines("Requests to the API server", "", "reqps",
			query{`sum by (firesteel_verb) (rate(firesteel_api_requests_total{job=~"$job"}` + rateInterval + `))`, "{{firesteel_verb}}"}),
		lines("Answers of the API server", "Without a code: no answer.", "reqps",
			query{`sum by (http_response_status_code) (rate(firesteel_api_requests_total{job=~"$job"}` + rateInterval + `))`, "{{http_response_status_code}}"}),
		lines("Time of requests", "95% of the requests to the API server took at most this time.", "s",
			query{`histogram_quantile(0.95, sum by (le, verb) (rate(rest_client_request_duration_seconds_bucket{job=~"$job"}` + rateInterval + `)))`, "{{verb}}"}),
		lines("Leases", "1: a replica leads. 0: none does.", "none", query{`sum by (name) (leader_election_master_status{job=~"$job"})`, "{{name}}"}),
		lines("CPU", "", "none", query{`rate(process_cpu_seconds_total{job=~"$job"}` + rateInterval + `)`, "{{instance}}"}),
		lines("Memory", "", "bytes", query{`process_resident_memory_bytes{job=~"$job"}`, "{{instance}}"},
			query{`go_memstats_heap_inuse_bytes{job=~"$job"}`, "{{instance}} heap"}),
	},
}

func phaseNumber(phase, description string) panel {
	return number(phase, description, "none", total("firesteel_namespace_applications"+fmt.Sprintf(inNamespace, `, firesteel_phase="`+phase+`"`)))
}

var namespace = dashboard{
	name: "namespace", title: "Firesteel / Namespace", description: "The applications of one namespace.", perNamespace: true,
	panels: []panel{
		phaseNumber("Running", "Applications that run."),
		phaseNumber("Waiting", "Applications that wait until they run."),
		phaseNumber("Suspended", "Applications that a user suspended."),
		phaseNumber("Ended", "Applications that ended and are still there."),
		lines("Applications", "By phase.", "none",
			query{once("firesteel_phase", "firesteel_namespace_applications"+fmt.Sprintf(inNamespace, "")), "{{firesteel_phase}}"}),
		lines("Attempts that ended", "In one hour, by how they ended.", "none",
			query{`sum by (firesteel_state) (increase(firesteel_namespace_attempts_ended_total` + fmt.Sprintf(inNamespace, "") + `[1h]))`, "{{firesteel_state}}"}),
		lines("Share of failures", "Of the attempts that ended in one hour.", "percentunit",
			query{`sum(increase(firesteel_namespace_attempts_ended_total` + fmt.Sprintf(inNamespace, `, firesteel_state!="Succeeded"`) +
				`[1h])) / (sum(increase(firesteel_namespace_attempts_ended_total` + fmt.Sprintf(inNamespace, "") + `[1h])) > 0) or vector(0)`, "failed"}),
	},
}

var delivery = dashboard{
	name: "delivery", title: "Firesteel / Delivery and handlers", description: "Events, handlers and schedules.",
	panels: []panel{
		number("Events pending", "Events that the sink has not acknowledged.", "none", `sum(firesteel_events_pending{job=~"$job"}) or vector(0)`),
		number("Events rejected", "In one day: events that were skipped.", "none", `sum(increase(firesteel_events_rejected_total{job=~"$job"}[1d])) or vector(0)`),
		number("Handlers awaited", "Events that a handler has not acted on.", "none", `sum(firesteel_handlers_awaited{job=~"$job"}) or vector(0)`),
		number("Runs missed", "In one day.", "none", `sum(increase(firesteel_schedule_runs_missed_total{job=~"$job"}[1d])) or vector(0)`),
		lines("Events sent", "Sends that the sink acknowledged, each second.", "ops",
			rare(`sum by (cloudevents_event_type) (rate(firesteel_events_sent_total{job=~"$job"}`+rateInterval+`))`, "{{cloudevents_event_type}}")),
		lines("Sends that failed", "They are repeated.", "ops",
			rare(`sum by (cloudevents_event_type) (rate(firesteel_events_failed_total{job=~"$job"}`+rateInterval+`))`, "{{cloudevents_event_type}}")),
		lines("Delivery", "From a transition to the acknowledgement of its event.", "s", delivered()...),
		lines("Events pending by replica", "", "none", rare(`sum by (instance) (firesteel_events_pending{job=~"$job"})`, "{{instance}}")),
		lines("Handlers awaited by handler", "Events that a handler has not acted on.", "none",
			rare(`sum by (firesteel_handler) (firesteel_handlers_awaited{job=~"$job"})`, "{{firesteel_handler}}")),
		lines("Handlers overdue", "Events that a handler has not acted on for minutes, in one hour.", "none",
			rare(`sum by (firesteel_handler) (increase(firesteel_handlers_overdue_total{job=~"$job"}[1h]))`, "{{firesteel_handler}}")),
		lines("Delay of runs", "From the instant at which a run was due to its application. 95% took at most this time.", "s",
			rare(`histogram_quantile(0.95, sum by (le, firesteel_group) (rate(firesteel_schedule_run_delay_seconds_bucket{job=~"$job"}[1h])))`, "{{firesteel_group}}")),
		lines("Runs missed", "In one hour.", "none",
			rare(`sum by (firesteel_group) (increase(firesteel_schedule_runs_missed_total{job=~"$job"}[1h]))`, "{{firesteel_group}}")),
		lines("Runs refused", "In one hour.", "none",
			rare(`sum by (firesteel_group) (increase(firesteel_schedule_runs_refused_total{job=~"$job"}[1h]))`, "{{firesteel_group}}")),
	},
}

func delivered() []query {
	all := quantiles("firesteel_events_delivery_duration_seconds", `{job=~"$job"}`)
	for i, q := range all {
		all[i] = rare(q.expr, q.legend)
	}
	return all
}
