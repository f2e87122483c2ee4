// Package observability has a real Prometheus read the controller of the cluster.
package observability

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
	"github.com/firesteel-dev/firesteel/test/observability"
	"github.com/firesteel-dev/firesteel/test/observability/prometheus"
)

const root = "../../.."

const (
	system = "firesteel-system"
	// metrics is the path of the controller's metrics at the API server, behind its Service.
	metrics = "/api/v1/namespaces/" + system + "/services/controller-metrics:metrics/proxy/metrics"
	// patience bounds what is waited for, one thing after the other.
	patience = time.Minute
	interval = 500 * time.Millisecond
)

// hasty are the rules with short times, so that a test need not wait for a quarter of an hour.
func hasty(t *testing.T) []byte {
	t.Helper()
	_, rules, err := observability.Rules(root)
	cluster.Must(t, err)
	text := regexp.MustCompile(`(?m)^( +for:) .*$`).ReplaceAllString(string(rules), "$1 1s")
	short := strings.ReplaceAll(text, "> 900", "> 5")
	if short == text {
		t.Fatal("no rule waits for 900 s")
	}
	return []byte(short)
}

// proxy runs kubectl proxy and returns its address. It speaks for the test to the API server.
func proxy(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "kubectl", "proxy", "--port=0")
	output, err := command.StdoutPipe()
	cluster.Must(t, err)
	cluster.Must(t, command.Start())
	t.Cleanup(func() { _ = command.Wait() }) // the test's context has ended it
	line, err := bufio.NewReader(output).ReadString('\n')
	cluster.Must(t, err)
	return strings.TrimSpace(line[strings.LastIndex(line, " ")+1:])
}

// until waits until a condition holds.
func until(t *testing.T, what string, holds func(ctx context.Context) (bool, error)) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (held bool, _ error) {
		held, last = holds(ctx)
		return held && last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v (%v)", what, err, last)
	}
}

func TestPrometheusReadsTheInstallationAndItsAlertsFire(t *testing.T) {
	c := cluster.New(t)
	server := prometheus.Start(t, proxy(t), metrics, hasty(t))
	fires := func(alert string, want bool) {
		t.Helper()
		until(t, fmt.Sprintf("%s fires: %t", alert, want), func(ctx context.Context) (bool, error) {
			firing, err := server.Firing(ctx)
			return firing[alert] == want, err
		})
	}
	until(t, "Prometheus reads the controller", func(ctx context.Context) (bool, error) {
		series, err := server.Query(ctx, `firesteel_application_wait_longest_seconds{job="firesteel"}`)
		return len(series) > 0, err
	})
	fires("FiresteelAbsent", false)

	for _, manifest := range []string{"../testdata/no-image.yaml", root + "/examples/flaky.yaml", root + "/examples/cluster.yaml"} {
		c.Apply(t, manifest)
	}
	fires("FiresteelDriversDoNotStart", true)
	c.Await(t, "no-image", "ended", cluster.InState("ResourceReleased", "TerminatedWithoutReleaseResources"))
	c.Await(t, "flaky", "ended after a restart", cluster.InState("ResourceReleased"))
	fires("FiresteelDriversDoNotStart", false)
	everyPanelHasHadData(t, server, c.Namespace)

	scale := func(ctx context.Context, replicas int32) {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		_, err := c.Kube.AppsV1().Deployments(system).Patch(ctx, "controller", types.MergePatchType, patch, metav1.PatchOptions{})
		cluster.Must(t, err)
	}
	deployment, err := c.Kube.AppsV1().Deployments(system).Get(t.Context(), "controller", metav1.GetOptions{})
	cluster.Must(t, err)
	t.Cleanup(func() { scale(context.WithoutCancel(t.Context()), *deployment.Spec.Replicas) }) // before the namespace is removed
	scale(t.Context(), 0)
	fires("FiresteelAbsent", true)
	scale(t.Context(), *deployment.Spec.Replicas)
	fires("FiresteelAbsent", false)
	fires("FiresteelNoLeader", false)
}

// everyPanelHasHadData evaluates the dashboards' queries at each second of the test: an application that ran has ended. Rates need
// two reads, so it waits for them.
func everyPanelHasHadData(t *testing.T, server *prometheus.Server, namespace string) {
	t.Helper()
	panels, err := observability.Panels(root, observability.Everything(namespace))
	cluster.Must(t, err)
	until(t, "every panel has had data", func(ctx context.Context) (bool, error) {
		var empty []error
		for _, panel := range panels {
			for _, query := range panel.Queries {
				series, err := server.Query(ctx, "present_over_time(("+query+")[5m:1s])")
				if err != nil {
					return false, err
				}
				if len(series) == 0 {
					empty = append(empty, fmt.Errorf("%s, %s has none for %s", panel.Dashboard, panel.Title, query))
				}
			}
		}
		return len(empty) == 0, errors.Join(empty...)
	})
}
