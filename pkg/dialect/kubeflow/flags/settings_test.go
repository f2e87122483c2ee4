package flags

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsHaveTheEffectOfFlags(t *testing.T) {
	for arguments, want := range map[string]string{
		"": "",
		"--leader-election=true --controller-threads=10 --enable-ui-service=true --max-tracked-executor-per-app=1000": "",
		`--namespaces=""`:                   "",
		"--namespaces=team-a,team-b":        "config-scope watched-namespaces=team-a,team-b",
		"-namespace team-a":                 "config-scope watched-namespaces=team-a",
		"--namespace-selector=spark=on":     "config-scope namespace-selector=spark=on",
		"--default-time-to-live-seconds=60": "",
		"--default-time-to-live-seconds=60 --feature-gates=A=false,DefaultTimeToLive=true": "config-kubeflow default-time-to-live=60s",
		"--max-tracked-executor-per-app=100000":                                            "config-kubeflow max-tracked-executors=5000",
		"--enable-driver-pdb":                                                              "config-kubeflow driver-pod-disruption-budget=enabled",
		"--enable-driver-pdb=false":                                                        "",
		"--kube-scheduler-names=mine":                                                      "",
		"--enable-batch-scheduler=true --kube-scheduler-names=mine,other --default-batch-scheduler=mine": "config-kubeflow batch-schedulers=volcano, yunikorn, mine, other" +
			"; config-kubeflow default-batch-scheduler=mine",
		"--enable-ui-service=false":                          "config-kubeflow ui-service=disabled",
		"--ingress-url-format={{$appName}}.example.com":      "config-kubeflow ingress-url-format={{$appName}}.example.com",
		"--enable-metrics=true --metrics-bind-address=:8080": "config-observability metrics-protocol=prometheus",
		"--enable-metrics=true -metrics-port 10254":          "config-observability metrics-protocol=prometheus; config-observability metrics-endpoint=:10254",
		"--metrics-bind-address=:9000":                       "",
		"--pprof-bind-address=:6060":                         "config-observability runtime-profiling=enabled",
		"--pprof-bind-address=0":                             "",
		"--leader-election-lease-duration=30s":               "config-leader-election lease-duration=30s",
		"--enable-resource-quota-enforcement=true":           "config-admission quota=fail",
		"--zap-log-level=debug":                              "config-logging loglevel.controller=debug",
	} {
		var got []string
		for _, s := range Settings(Given(strings.Fields(arguments))) {
			got = append(got, s.ConfigMap+" "+s.Key+"="+s.Value)
		}
		if diff := cmp.Diff(want, strings.Join(slices.Clone(got), "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
}
