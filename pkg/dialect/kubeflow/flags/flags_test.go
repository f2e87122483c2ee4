package flags

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/test/harness/golden"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
)

//go:generate go test -run ^TestPageHasEachFlag$ -update

const pageOfFlags = "../../../../docs/operators/kubeflow-flags.md"

//go:embed testdata/page.tmpl
var page string

func TestPageHasEachFlag(t *testing.T) {
	quoted := func(dashes string, names []string) []string {
		var all []string
		for _, name := range names {
			all = append(all, "`"+dashes+name+"`")
		}
		return all
	}
	var lines [][2]string
	for _, r := range rows {
		theirs := quoted("--", r.flags)
		for _, flag := range quoted("-", r.earlier) {
			theirs = append(theirs, "before 2.0 "+flag)
		}
		for _, gate := range quoted("", r.gates) {
			theirs = append(theirs, "the gate "+gate)
		}
		lines = append(lines, [2]string{strings.Join(theirs, ", "), r.instead})
	}
	var want bytes.Buffer
	if err := template.Must(template.New("").Parse(page)).Execute(&want, lines); err != nil {
		t.Fatal(err)
	}
	if err := pages.Current(pageOfFlags, want.Bytes(), *golden.Update, "go generate ./pkg/dialect/kubeflow/flags"); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesWhatTakesThePlaceOfAFlag(t *testing.T) {
	for arguments, want := range map[string]string{
		"":                                     "",
		"-local --kubeconfig=/namespaces":      "",
		"namespaces":                           "",
		"controller start --namespaces=team-a": "--namespaces is a flag of the Kubeflow operator. Remove it. What takes its place: watched-namespaces in config-scope",
		"-namespace team-a":                    "-namespace is a flag of the Kubeflow operator. Remove it. What takes its place: watched-namespaces in config-scope",
		"--submitter-image=spark:4.1.1":        "--submitter-image is a flag of the Kubeflow operator that has no counterpart: there is no JVM to submit with. Remove it",
		"--zap-log-level=debug --leader-election": "--zap-log-level is a flag of the Kubeflow operator. Remove it. What takes its place: loglevel.controller and zap-logger-config in config-logging\n" +
			"--leader-election is a flag of the Kubeflow operator that has no counterpart: it is always on. Remove it",
		"--feature-gates LoadSparkDefaults=true,New=false": "--feature-gates=LoadSparkDefaults is a flag of the Kubeflow operator. Remove it. What takes its place: " +
			"spark-defaults.conf in config-kubeflow, also for the files in the operator's image\n" +
			"--feature-gates=New is a flag of the Kubeflow operator that has no counterpart: there are no feature gates. Remove it",
	} {
		got := ""
		if err := Check(strings.Fields(arguments)); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
}

// flagsOf252 are the flags of v2.5.2: those that cmd/operator/controller/start.go and cmd/operator/webhook/start.go define, and
// those of zap and of the feature gates.
const flagsOf252 = `controller-threads namespaces namespace-selector cache-sync-timeout max-tracked-executor-per-app
	workqueue-ratelimiter-bucket-qps workqueue-ratelimiter-bucket-size workqueue-ratelimiter-max-delay enable-batch-scheduler
	kube-scheduler-names default-batch-scheduler enable-ui-service ingress-class-name ingress-url-format ingress-tls
	ingress-annotations leader-election leader-election-lock-name leader-election-lock-namespace leader-election-lease-duration
	leader-election-renew-deadline leader-election-retry-period driver-pod-creation-grace-period kube-api-qps kube-api-burst
	enable-metrics metrics-bind-address metrics-endpoint metrics-prefix metrics-labels metrics-job-submit-latency-buckets
	metrics-job-start-latency-buckets health-probe-bind-address secure-metrics enable-http2 pprof-bind-address
	scheduled-spark-application-timestamp-precision webhook-cert-dir webhook-cert-name webhook-key-name mutating-webhook-name
	validating-webhook-name webhook-port webhook-secret-name webhook-secret-namespace webhook-svc-name webhook-svc-namespace
	enable-resource-quota-enforcement enable-cert-manager label-selector-filter zap-log-level zap-encoder feature-gates`

func TestCheckKnowsEachFlagOfTheOperator(t *testing.T) {
	for name := range strings.FieldsSeq(flagsOf252) {
		if Check([]string{"--" + name + "=1"}) == nil {
			t.Errorf("--%s is unknown", name)
		}
	}
}
