package integration

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// sparkName runs a command line with -o name, and returns the name of the object that it prints.
func (s *env) sparkName(line string) string {
	s.Helper()
	code, out, errOut := s.spark(s.Context(), line+" -o name")
	_, name, ok := strings.Cut(strings.TrimSpace(out), "/")
	if code != 0 || !ok {
		s.Fatalf("%s: exit code %d, %q: %s", line, code, out, errOut)
	}
	return name
}

func TestActSuspendsWaitsRerunsAndDeletes(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	first := s.create(App("pi").Suspended())
	s.sparkSays("suspend pi", "is suspended already")
	s.sparkSays("resume pi --dry-run=server", "resumed (server dry run)")
	s.sparkFails("wait pi --for=condition=Succeeded --timeout=1ms", 1, "timed out after 1ms")
	if !s.get("pi").Spec.Suspend {
		t.Error("a dry run resumed it")
	}
	s.sparkSays("resume pi", "pi resumed")
	d := s.run("pi", 0)
	s.sparkSays("wait pi --for=state=RunningHealthy --timeout=1m", "met: state=RunningHealthy")
	d.exit(1)
	s.sparkFails("wait pi --timeout=1m", 3, "pi failed")
	s.sparkFails("rerun pi --set driver.memry=2g", 2, "there is no field driver")

	name := s.sparkName("rerun pi --set driver.memoryOverhead=2g")
	again := s.get(name)
	if !strings.HasPrefix(name, "pi-rerun-") || again.Spec.SparkConf["spark.driver.memoryOverhead"] != "2g" || again.UID == first.UID {
		t.Errorf("%s has the properties %v", name, again.Spec.SparkConf)
	}
	s.sparkSays("rerun pi --name other --dry-run=server", "other created (server dry run)")
	s.sparkFails("rerun pi --name "+name, 1, "already exists")
	s.sparkSays("delete pi --dry-run=server", "deleted (server dry run)")
	s.sparkSays("delete pi --timeout=1m", "deleted")
	untilGone(s, s.apps(), "pi")
	s.sparkFails("wait pi", 1, `there is no application, cluster or schedule "pi"`)
}

// The uid in a patch is a precondition: an object that took the place of another is not changed.
func TestActDoesNotChangeAnObjectThatTookTheNameOfAnother(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.create(App("pi").Suspended())
	_, err := s.apps().Patch(t.Context(), "pi", types.MergePatchType, []byte(`{"metadata":{"uid":"other"},"spec":{"suspend":false}}`), metav1.PatchOptions{})
	if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) || !s.get("pi").Spec.Suspend {
		t.Errorf("the patch has the result %v", err)
	}
}

func TestActRunsSchedulesNow(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for _, kind := range variant.All {
		name := strings.Split(kind.GroupVersion.Group, ".")[0]
		schedule := s.schedules(kind, name, "0 3 1 1 *", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
		schedule.untilCondition("Scheduled", metav1.ConditionTrue, "Scheduled")
		s.sparkSays("schedule list", name, "0 3 1 1 *")
		s.sparkSays("schedule next "+name, "-01-01 03:00:00 +0000 UTC")
		s.sparkSays("schedule suspend "+name, "suspended")
		s.sparkSays("schedule run "+name+" --dry-run=server", "created (server dry run)")
		run := s.sparkName("schedule run " + name)
		schedule.until("count the run", func(status *firesteelv1alpha1.ScheduleStatus) bool {
			return status.Firesteel != nil && len(status.Firesteel.Active) == 1 && status.Firesteel.Active[0].Name == run
		})
		s.sparkFails("schedule run "+name, 1, run+" has not ended: wait for it, or write --concurrent")
		s.sparkSays("stop "+run, "stopped")
		schedule.until("count no run", func(status *firesteelv1alpha1.ScheduleStatus) bool { return len(status.Firesteel.Active) == 0 })
		s.sparkSays("schedule resume "+name, "resumed")
		s.sparkSays("delete "+kind.String()+"/"+name+" --wait=false", "deleted")
	}
}

func TestActScalesClustersAndPreparesNamespaces(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c").Workers(2, 1, 1).Suspended())
	s.untilClusterState("c", "Submitted")
	s.sparkSays("cluster scale c --workers 3", "scaled from 2 to 3 workers")
	s.sparkSays("cluster list", "c ", "Submitted", "Suspended")
	s.sparkSays("resume c --dry-run=server", "resumed (server dry run)")
	s.sparkSays("delete c", "deleted")
	s.sparkSays("namespace "+s.ns, "ServiceAccount "+s.ns+"/spark: created", "RoleBinding "+s.ns+"/spark-driver-accounts: created")
	s.sparkSays("namespace "+s.ns, "RoleBinding "+s.ns+"/spark-driver-accounts: exists")
}
