package features

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const exited = "spark-kubernetes-driver exited with code 1"

// The driver looks for packages before it begins. What Spark then throws is only in its log, of whose end the
// manifest makes the container's termination message.
func TestMissingPackageFailsTheApplication(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/packages.yaml")
	expectFailure(t, c, "packages", exited, "com.example#no-such-package;1.0: not found")
}

// What the application throws Spark notes on the driver's Pod.
func TestFailureCauseHasTheException(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/exception.yaml")
	expectFailure(t, c, "exception", exited, `java.lang.NumberFormatException: For input string: "many"`)
}

// expectFailure checks that an application fails, and that its condition has the cause.
func expectFailure(t *testing.T, c *cluster.Cluster, name string, why ...string) {
	t.Helper()
	app := c.Await(t, name, "kept", kept)
	condition := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
	if condition.Reason != "Failed" {
		t.Errorf("the condition is %+v", condition)
	}
	for _, part := range why {
		if !strings.Contains(condition.Message, part) {
			t.Errorf("the condition does not say %q: %s", part, condition.Message)
		}
	}
}
