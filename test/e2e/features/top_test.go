package features

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// newMetricsServer runs metrics-server, built from its Go module, until the end of the test. If another one is in the cluster, that stays.
func newMetricsServer(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if _, err := c.Kube.Discovery().ServerResourcesForGroupVersion("metrics.k8s.io/v1beta1"); err == nil {
		return
	}
	resolved := resolve(t, c, "../metricsserver", "testdata/metrics-server.yaml")
	// Before the namespace of the test: an API without its server holds up each deletion of one.
	finally(t, "delete", "--ignore-not-found", "-f", resolved)
	c.Run(t, "", "kubectl", "apply", "-f", resolved)
	c.Run(t, "", "kubectl", "-n", "kube-system", "rollout", "status", "deployment/metrics-server", "--timeout=3m")
	c.Run(t, "", "kubectl", "wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=2m")
}

// resolve builds the images of a manifest from a module in a folder, and returns the path of the manifest that names them.
func resolve(t *testing.T, c *cluster.Cluster, module, manifest string) string {
	t.Helper()
	ko := strings.TrimSpace(c.Run(t, "", "go", "tool", "-n", "-modfile=../../../tools/go.mod", "ko"))
	path, err := filepath.Abs(manifest)
	cluster.Must(t, err)
	resolved := filepath.Join(t.TempDir(), filepath.Base(manifest))
	c.Run(t, "", "sh", "-c", `cd "$0" && "$1" resolve --filename="$2" >"$3"`, module, ko, path, resolved)
	return resolved
}

// measured are the rows of a driver and of its executor, whose name comes from the code, with the CPU and memory that were measured. Spark adds 384 MiB to the memory of each.
var measured = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^long-\S*driver\s+\d+m\s+200m\s+\d+Mi\s+896Mi\s+\d+%$`),
	regexp.MustCompile(`(?m)^spark-pi-\S*exec-1\s+\d+m\s+200m\s+\d+Mi\s+896Mi\s+\d+%$`),
	regexp.MustCompile(`(?m)^all\s+\d+m\s+\d+Mi$`),
}

// What the kubelet measures of a running application is shown beside what its Pods asked for.
func TestCommandLineShowsTheCPUAndMemoryOfDriverAndExecutors(t *testing.T) {
	u := newUser(t)
	newMetricsServer(t, u.Cluster)
	u.says(t, 0, nil, "submit", pi("long", "100000", "SparkPi")...)
	u.says(t, 0, nil, "wait", "long", "--for", "state=RunningHealthy", "--timeout", cluster.RunTime.String())
	var output string
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, 3*time.Minute, true, func(context.Context) (bool, error) {
		output, _ = u.spark(t, "top", "long")
		for _, row := range measured {
			if !row.MatchString(output) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("top shows not the use of driver and executor (%v):\n%s", err, output)
	}
	byMemory := u.says(t, 0, []string{"all"}, "top", "long", "--sort-by", "memory")
	t.Logf("the most memory first:\n%s", byMemory)
}
