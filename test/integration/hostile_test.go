package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/hostile"
)

const (
	// hostileCount is how many manifests of each kind are applied, and hostileSeed what they are drawn from.
	hostileCount, hostileSeed = "FIRESTEEL_HOSTILE", "FIRESTEEL_SEED"
	// mostResident is the memory in MiB that a controller may have in the end.
	mostResident = 768
)

// Hostile objects of any kind do not affect an application of another namespace: neither beside it, nor when a controller starts
// while they exist.
func TestHostileObjectsAffectNoOtherApplication(t *testing.T) {
	alone(t)
	count, seed := int(numberOf(t, hostileCount, 2)), numberOf(t, hostileSeed, rand.Uint64())
	t.Logf("repeat this with %s=%d and %s=%d", hostileCount, count, hostileSeed, seed)
	bad, good := newEnv(t), newEnv(t)
	bad.applyCRD(crdOfEarlyApplications)
	t.Cleanup(func() {
		_, err := bad.Plane.Kubectl(context.Background(), "", "delete", "--timeout="+timeout.String(), "--filename="+configFolder+"/"+crdOfEarlyApplications)
		bad.must(err)
	})
	process := good.ownController(controller{sink: good.sink.URL()})
	good.untilReady(process)
	byItself := good.timed(func() { runNeighbours(good, "alone") })
	slowest, taken := time.Duration(0), 0
	for i, k := range hostile.Kinds {
		for number := range count {
			m := k.Manifest(seed, uint64(number), bad.ns, fmt.Sprintf("bad-%d-%d", i, number))
			if bad.applied(m) {
				taken++
			}
		}
		slowest = max(slowest, good.timed(func() { runNeighbours(good, fmt.Sprintf("beside-%d", i)) }))
	}
	stillRuns(t, process)
	process.Kill()
	process = good.ownController(controller{sink: good.sink.URL()})
	good.untilReady(process)
	slowest = max(slowest, good.timed(func() { runNeighbours(good, "after") }))
	t.Logf("the API server took %d objects; innocents lived %s alone, and %s at most beside them", taken, byItself, slowest)
	if generous := 10*byItself + 90*time.Second; slowest > generous {
		t.Errorf("innocents live %s beside them, and %s alone", slowest, byItself)
	}
	for _, k := range hostile.Kinds {
		bad.deleteAll(k)
	}
	runNeighbours(good, "last")
	stillRuns(t, process)
	if mib := residentOf(t, process); mib > mostResident {
		t.Errorf("the controller takes %.0f MiB in the end", mib)
	}
}

func numberOf(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text, set := os.LookupEnv(variable)
	if !set || text == "" {
		return otherwise
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func (s *env) timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// resourceOf returns a resource of an API version such as spark.apache.org/v1.
func resourceOf(apiVersion, resource string) schema.GroupVersionResource {
	group, version, _ := strings.Cut(apiVersion, "/")
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// applied creates an object, and reports whether the API server accepts it.
func (s *env) applied(m hostile.Manifest) bool {
	s.Helper()
	var object unstructured.Unstructured
	s.must(object.UnmarshalJSON(m.JSON))
	_, err := s.Dynamic.Resource(resourceOf(m.Kind.APIVersion, m.Kind.Resource)).Namespace(s.ns).Create(s.Context(), &object, metav1.CreateOptions{})
	s.Logf("%s, %d KiB, %.120q: %.200v", m.Kind, len(m.JSON)>>10, m.What, err)
	return err == nil
}

// deleteAll deletes all objects of a kind, and waits until they are gone.
func (s *env) deleteAll(k hostile.Kind) {
	s.Helper()
	objects := s.Dynamic.Resource(resourceOf(k.APIVersion, k.Resource)).Namespace(s.ns)
	s.must(objects.DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		left, err := objects.List(ctx, metav1.ListOptions{})
		if apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) {
			return false, nil
		}
		return err == nil && len(left.Items) == 0, err
	})
	if err != nil {
		s.Errorf("objects of %s are not deleted: %v", k, err)
	}
}

func stillRuns(t *testing.T, process *process.Process) {
	t.Helper()
	select {
	case <-process.Done():
		t.Errorf("the controller ended:\n%s", process.Tail(40))
	default:
	}
}
