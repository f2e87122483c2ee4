package archiver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// serveEvents lets the API server have a Kubernetes Event about each of some objects, the newest first.
func (e *followEnv) serveEvents(objects ...types.UID) {
	e.core.PrependReactor("list", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list := &corev1.EventList{}
		for i, object := range objects {
			if selector := action.(clienttesting.ListActionImpl).ListOptions.FieldSelector; selector == "" || selector == "involvedObject.uid="+string(object) {
				list.Items = append(list.Items, corev1.Event{
					Message: fmt.Sprintf("about %s, hunter2-secret", object), InvolvedObject: corev1.ObjectReference{UID: object},
					LastTimestamp: metav1.NewTime(began.Add(-time.Duration(i) * time.Second)), ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}},
				})
			}
		}
		return true, list, nil
	})
}

// endedCluster returns the manifest of the cluster, and the messages of the Kubernetes Events that are stored of it.
func (e *followEnv) endedCluster() (*archive.Manifest, []string) {
	e.t.Helper()
	store, id := e.cluster()
	manifest, err := store.Attempt(id, 0).Manifest(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	if !slices.Contains(manifest.Objects, archive.Object{File: "events.json.gz", Kind: "Event", Name: "lab"}) {
		e.t.Fatalf("%+v", manifest.Objects)
	}
	content, err := store.Attempt(id, 0).Get(e.t.Context(), 1<<20, "objects", "events.json.gz")
	if err != nil {
		e.t.Fatal(err)
	}
	var events corev1.EventList
	if err := json.Unmarshal(content, &events); err != nil {
		e.t.Fatal(err)
	}
	var messages []string
	for _, event := range events.Items {
		message, _, _ := strings.Cut(event.Message, ",")
		messages = append(messages, message)
	}
	if text := string(content); strings.Contains(text, "hunter2") || strings.Contains(text, "managedFields") {
		e.t.Errorf("the Events are %s", text)
	}
	return manifest, messages
}

// The Events are those about the cluster, its StatefulSets and its Pods, also those that were replaced.
func TestTheKubernetesEventsOfAClusterOutliveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		e.serveEvents("w1", "w0", "another", "s", "before", "uid-of-lab", "m0")
		m, w := e.starts(masterLog), e.starts(workerLog)
		before := e.member("lab-worker-0", "before", corev1.ContainerStatus{})
		before.CreationTimestamp = metav1.NewTime(began.Add(-time.Hour)) // it is left of an earlier cluster
		e.following.observe(before)
		e.following.gone(before)
		master, worker := e.member("lab-master-0", "m0", running(0)), e.member("lab-worker-0", "w0", running(0))
		e.following.observe(master)
		e.following.observe(worker)
		after(time.Second)
		e.removed(worker)
		next := e.member("lab-worker-0", "w1", corev1.ContainerStatus{}) // it has not run
		e.following.observe(next)
		m.end()
		w.end()
		e.removed(master)
		e.removed(next)
		e.following.clusterGone(released())
		after(time.Minute)
		manifest, messages := e.endedCluster()
		if want := []string{"about m0", "about uid-of-lab", "about s", "about w0", "about w1"}; !slices.Equal(messages, want) || len(manifest.Missing) > 0 {
			t.Errorf("the Events are %q, want %q; missing: %+v", messages, want, manifest.Missing)
		}
	})
}

// No container of a cluster may ever run, as without its image. Its Events say why. The storage fails when it is gone.
func TestAClusterThatNeverRanIsArchived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		e.serveEvents("m0")
		e.following.observe(e.member("lab-master-0", "m0", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}))
		e.withoutStorage(func() {
			e.following.clusterGone(released())
			after(time.Minute)
		})
		after(time.Minute)
		if manifest, messages := e.endedCluster(); len(manifest.Logs) > 0 || manifest.State != "ResourceReleased" || !slices.Equal(messages, []string{"about m0"}) {
			t.Errorf("%+v, %q", manifest, messages)
		}
		store, id := e.cluster()
		if app, err := store.Application(t.Context(), id); err != nil || app.Ended == nil {
			t.Errorf("it is %+v; %v", app, err)
		}
	})
}

func TestKubernetesEventsOfAClusterThatCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		failing int
		want    string
	}{
		"the API server fails for a moment": {apierrors.NewServiceUnavailable("no"), 2, ""},
		"the API server fails":              {errors.New("dial tcp: connection refused"), 1000, "connection refused"},
		"without the right":                 {apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("no rule")), 1000, "no rule"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newClusterEnv(t)
				defer func() { e.stop() }()
				e.serveEvents("uid-of-lab")
				tries := 0
				e.core.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
					tries++
					return tries <= test.failing, nil, test.err
				})
				e.following.clusterGone(released())
				after(2 * time.Minute)
				manifest, messages := e.endedCluster()
				switch {
				case test.want == "" && (len(manifest.Missing) > 0 || len(messages) != 1):
					t.Errorf("%q; missing: %+v", messages, manifest.Missing)
				case test.want != "" && (len(manifest.Missing) != 1 || manifest.Missing[0].What != "Kubernetes Events" || !strings.Contains(manifest.Missing[0].Why, test.want)):
					t.Errorf("missing: %+v", manifest.Missing)
				}
				if tries > clusterEventTries+1 {
					t.Errorf("the API server was asked %d times", tries)
				}
			})
		})
	}
}

// Of a cluster with many Pods, those that were seen last count: Events last for an hour.
func TestThePodsOfAClusterWhoseEventsAreReadAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		e.serveEvents("p0", "p199")
		for i := range 200 {
			e.following.observe(e.member("lab-worker-0", types.UID(fmt.Sprint("p", i)), corev1.ContainerStatus{}))
		}
		e.following.clusterGone(released())
		after(time.Minute)
		manifest, messages := e.endedCluster()
		if !slices.Equal(messages, []string{"about p199"}) || len(manifest.Missing) != 1 || !strings.Contains(manifest.Missing[0].Why, fmt.Sprint(maxClusterMembers)) {
			t.Errorf("%q; missing: %+v", messages, manifest.Missing)
		}
	})
}
