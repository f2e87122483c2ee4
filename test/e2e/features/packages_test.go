package features

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

func TestPackageThatCannotBeHadFailsTheApplication(t *testing.T) {
	c := cluster.New(t)
	c.Apply(t, "testdata/packages.yaml")
	app := c.Await(t, "packages", "kept", kept)
	condition := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
	t.Log(condition)
	if condition.Reason != "Failed" || !strings.Contains(condition.Message, "spark-kubernetes-driver exited with code 1") {
		t.Errorf("the condition is %+v", condition)
	}
	expectLog(t, c, "packages-0-driver", "com.example#no-such-package;1.0: not found")
}
