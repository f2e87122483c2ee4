package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// withArchive lets the handler whose manifest has the rights for it archive into a folder, and returns its URL. The node answers with a log.
func (s *env) withArchive(rights, folder string, log func(w http.ResponseWriter, r *http.Request)) string {
	s.Helper()
	s.applyConfig(rights)
	s.configured("config-archive", "url", "file://"+folder)
	s.node(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/containerLogs/"+s.ns+"/") {
			http.NotFound(w, r) // Pods of other envs are on this node, too
			return
		}
		log(w, r)
	})
	s.ownController(controller{sink: s.sink.URL()})
	return "file://" + folder
}

// archiveHandler runs the handler of the archive as a process of its own.
func (s *env) archiveHandler() *handler {
	s.Helper()
	return s.function("handler-archive", "archive", []string{"SYSTEM_NAMESPACE=" + firesteel.SystemNamespace}, "handler")
}

// twoLines is the log of a driver, as the node has it.
func (s *env) twoLines() func(w http.ResponseWriter, r *http.Request) {
	stamp := time.Now().UTC().Format(time.RFC3339Nano)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("timestamps") != "true" {
			s.Errorf("the node is asked for %s", r.URL)
		}
		fmt.Fprintf(w, "%s INFO one\n%[1]s ERROR two\n", stamp)
	}
}

// checkArchived fails the test unless the archive has the only attempt of a failed application whole, with the log of twoLines.
func (s *env) checkArchived(url string, app *sparkv1.SparkApplication) {
	s.Helper()
	s.untilCondition(app.Name, dialect.ConditionArchived, metav1.ConditionTrue, "Archived")
	store, err := archive.Open(s.Context(), url)
	s.must(err)
	defer store.Close()
	of := s.namespace()
	list, err := store.List(s.Context(), of, archive.Filter{}, archive.Page{})
	s.must(err)
	if len(list.Items) != 1 || list.Items[0].UID != app.UID || list.Items[0].State != "Failed" || list.Items[0].Kind != "SparkApplication" {
		s.Fatalf("the archive has %+v", list.Items)
	}
	attempt := store.Attempt(list.Items[0].ID(), 0)
	manifest, err := attempt.Manifest(s.Context())
	s.must(err)
	if len(manifest.Missing) > 0 || len(manifest.Logs) != 1 || len(manifest.Objects) < 4 {
		s.Fatalf("the manifest is %+v", manifest)
	}
	reader, err := attempt.OpenLog(s.Context(), manifest.Logs[0].LogID, archive.LogOptions{Tail: -1})
	s.must(err)
	if content, err := io.ReadAll(reader); err != nil || string(content) != "INFO one\nERROR two\n" {
		s.Errorf("the log is %q; %v", content, err)
	}
}

// untilManifest waits until an attempt is archived.
func (s *env) untilManifest(attempt *archive.Attempt) (manifest *archive.Manifest) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(ctx context.Context) (bool, error) {
		var err error
		if manifest, err = attempt.Manifest(ctx); archive.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}))
	return manifest
}

func TestArchiveHasTheLogBeforeTheDriverIsReleased(t *testing.T) {
	alone(t)
	s := newEnv(t)
	url := s.withArchive("archive/rbac.yaml", t.TempDir(), s.twoLines())
	app := s.create(App("pi"))
	s.run("pi", 0).exit(1)
	s.untilState("pi", "ResourceReleased")
	s.checkArchived(url, app)
}

func TestArchiveIsFilledByAHandlerBehindABroker(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-handlers", "archive", "external")
	url := s.withArchive("archive-eventing/500-handler-archive.yaml", t.TempDir(), s.twoLines())
	s.sink.SetAnswer(s.ns, s.archiveHandler().trigger("sparkrestartallowed", ""))
	app := s.create(App("pi"))
	s.run("pi", 0).exit(1)
	s.untilState("pi", "ResourceReleased")
	s.checkArchived(url, app)
}

// The node of the driver is lost. What the driver had logged is in the archive, which says that the end is missing.
func TestArchiveFollowsTheLogOfADriverThatIsLost(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-archive", "driver-logs", "follow")
	s.configured("config-archive", "flush-interval", "1s")
	twoLines, lost := s.twoLines(), make(chan struct{})
	url := s.withArchive("archive/rbac.yaml", t.TempDir(), func(w http.ResponseWriter, r *http.Request) {
		twoLines(w, r)
		if r.FormValue("follow") == "true" {
			s.check(http.NewResponseController(w).Flush())
			select {
			case <-lost:
			case <-r.Context().Done():
			}
		}
	})
	app := s.create(App("pi"))
	d := s.run("pi", 0)
	store, err := archive.Open(s.Context(), url)
	s.must(err)
	defer store.Close()
	attempt := store.Attempt(archive.ID{Namespace: s.namespace(), Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: app.UID}, 0)
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(ctx context.Context) (bool, error) {
		logs, err := attempt.Logs(ctx)
		if archive.IsNotFound(err) {
			return false, nil
		}
		return len(logs) == 1 && logs[0].Bytes > 0, err
	}))
	d.deleteByForce()
	close(lost)
	s.untilCondition("pi", dialect.ConditionArchived, metav1.ConditionFalse, "DriverPodGone")
	manifest := s.untilManifest(attempt)
	if len(manifest.Logs) != 1 || !manifest.Logs[0].Followed || !strings.Contains(manifest.Logs[0].Missing, "the end") || len(manifest.Missing) == 0 {
		s.Fatalf("the manifest is %+v", manifest)
	}
	reader, err := attempt.OpenLog(s.Context(), manifest.Logs[0].LogID, archive.LogOptions{Tail: -1})
	s.must(err)
	if content, err := io.ReadAll(reader); err != nil || string(content) != "INFO one\nERROR two\n" {
		s.Errorf("the log is %q; %v", content, err)
	}
}

// The logs of a cluster are followed by the handler as a service, with its own rights. When the cluster is gone, the archive describes it.
func TestArchiveFollowsTheLogsOfAClusterUntilItIsGone(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-handlers", "archive", "external")
	s.configured("config-archive", "cluster-logs", "follow")
	s.configured("config-archive", "flush-interval", "1s")
	twoLines, killed := s.twoLines(), make(chan struct{})
	url := s.withArchive("archive-eventing/500-handler-archive.yaml", t.TempDir(), func(w http.ResponseWriter, r *http.Request) {
		twoLines(w, r)
		s.check(http.NewResponseController(w).Flush())
		select {
		case <-killed:
		case <-r.Context().Done():
		}
	})
	s.archiveHandler()
	c := s.createCluster(Cluster("c"))
	s.happens(corev1.ObjectReference{APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Namespace: s.ns, Name: "c", UID: c.UID}, "It is seen.")
	s.memberRuns(s.untilSet("c-master", "exist", func(*appsv1.StatefulSet) bool { return true }))
	store, err := archive.Open(s.Context(), url)
	s.must(err)
	defer store.Close()
	id := archive.ID{Namespace: s.namespace(), Resource: "sparkclusters.spark.apache.org", Name: "c", UID: c.UID}
	attempt := store.Attempt(id, 0)
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(ctx context.Context) (bool, error) {
		logs, err := attempt.Logs(ctx)
		if archive.IsNotFound(err) {
			return false, nil
		}
		return len(logs) == 1 && logs[0].Bytes > 0, err
	}))
	s.must(s.clusters().Delete(s.Context(), "c", metav1.DeleteOptions{}))
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), "c-master-0", metav1.DeleteOptions{})) // as the garbage collector does
	close(killed)
	untilGone(s, s.clusters(), "c")
	manifest := s.untilManifest(attempt)
	if len(manifest.Logs) != 1 || manifest.Logs[0].Role != archive.RoleMaster || !manifest.Logs[0].Followed || len(manifest.Objects) != 3 || len(manifest.Missing) > 0 {
		s.Fatalf("the manifest is %+v", manifest)
	}
	if happened, err := attempt.Get(s.Context(), 1<<20, "objects", "events.json.gz"); err != nil || !strings.Contains(string(happened), "It is seen.") {
		s.Errorf("the Kubernetes Events are %s; %v", happened, err)
	}
	reader, err := attempt.OpenLog(s.Context(), manifest.Logs[0].LogID, archive.LogOptions{Tail: -1})
	s.must(err)
	if content, err := io.ReadAll(reader); err != nil || string(content) != "INFO one\nERROR two\n" {
		s.Errorf("the log is %q; %v", content, err)
	}
}

// happens creates a Kubernetes Event about an object.
func (s *env) happens(object corev1.ObjectReference, message string) {
	s.Helper()
	_, err := s.Kube.CoreV1().Events(s.ns).Create(s.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: object.Name + "-"}, InvolvedObject: object, Message: message, LastTimestamp: metav1.Now(),
	}, metav1.CreateOptions{})
	s.must(err)
}

// memberRuns replaces the controller of StatefulSets and the kubelet: the first Pod of a set runs on the node, and ends without a grace period.
func (s *env) memberRuns(set *appsv1.StatefulSet) {
	s.Helper()
	name, pods := set.Spec.Template.Labels[resources.LabelRole], s.Kube.CoreV1().Pods(s.ns)
	pod, err := pods.Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name + "-0", Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: corev1.PodSpec{
			NodeName: "node", TerminationGracePeriodSeconds: ptr.To[int64](0), Containers: []corev1.Container{{Name: name, Image: "none"}},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	_, err = pods.UpdateStatus(s.Context(), pod, metav1.UpdateOptions{})
	s.must(err)
}

// A driver that runs is archived before it is deleted with its application.
func TestArchiveHasTheLogOfADriverThatIsDeleted(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.withArchive("archive/rbac.yaml", t.TempDir(), s.twoLines())
	s.create(App("pi"))
	d := s.run("pi", 0)
	s.must(s.apps().Delete(s.Context(), "pi", metav1.DeleteOptions{}))
	pod := s.untilTerminating(d.Name)
	if !strings.HasPrefix(pod.Annotations[lifecycle.ArchivedAnnotation], string(lifecycle.ArchivedPartly)+".") {
		s.Errorf("the Pod is archived %q", pod.Annotations[lifecycle.ArchivedAnnotation])
	}
}

// What follows the attempt waits for the bound, and not longer. The condition says so.
func TestArchiveThatFailsHoldsTheReleaseForABoundedTime(t *testing.T) {
	alone(t)
	s := newEnv(t)
	file := filepath.Join(t.TempDir(), "no-folder")
	s.must(os.WriteFile(file, nil, 0o600))
	s.configured("config-archive", "wait", "5s")
	s.withArchive("archive/rbac.yaml", file, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	s.create(App("pi"))
	s.run("pi", 0).exit(0)
	s.untilCondition("pi", dialect.ConditionArchived, metav1.ConditionFalse, "NotArchivedInTime")
	s.untilState("pi", "ResourceReleased")
}

// The storage is away for longer than anything waits for it. When it is back, the handler archives the attempts by itself, also those whose Pods or
// applications are gone by then.
func TestArchiveHasAttemptsLaterIfItsStorageWasAway(t *testing.T) {
	alone(t)
	s := newEnv(t)
	folder := filepath.Join(t.TempDir(), "archive")
	s.must(os.WriteFile(folder, nil, 0o600)) // a file is in the place of the folder
	url := s.withArchive("archive/rbac.yaml", folder, s.twoLines())
	retained, released, deleted := s.create(App("retained").Retain(sparkv1.RetainAlways)), s.create(App("released")), s.create(App("deleted"))
	for _, name := range []string{"retained", "released", "deleted"} {
		s.run(name, 0).exit(1)
	}
	for _, name := range []string{"retained", "released", "deleted"} {
		s.untilCondition(name, dialect.ConditionArchived, metav1.ConditionFalse, "NotArchivedInTime")
	}
	for _, name := range []string{"released", "deleted"} {
		s.untilState(name, "ResourceReleased")
		untilGone(s, s.Kube.CoreV1().Pods(s.ns), name+"-0-driver")
	}
	s.delete("deleted")
	untilGone(s, s.apps(), "deleted")
	s.must(errors.Join(os.Remove(folder), os.Mkdir(folder, 0o700)))

	store, err := archive.Open(s.Context(), url)
	s.must(err)
	defer store.Close()
	of := s.namespace()
	for _, app := range []*sparkv1.SparkApplication{retained, released, deleted} {
		id := archive.ID{Namespace: of, Resource: "sparkapplications.spark.apache.org", Name: app.Name, UID: app.UID}
		manifest := s.untilManifest(store.Attempt(id, 0))
		if described, err := store.Application(s.Context(), id); err != nil || described.State != "Failed" || manifest.State != "Failed" {
			s.Errorf("%s is described as %+v, and its attempt as %+v; %v", app.Name, described, manifest, err)
		}
		if object, err := store.Attempt(id, 0).Get(s.Context(), 1<<20, "objects", "application.json.gz"); err != nil || !strings.Contains(string(object), string(app.UID)) {
			s.Errorf("the object of %s is %s; %v", app.Name, object, err)
		}
		if app == retained {
			if len(manifest.Missing) > 0 || len(manifest.Logs) != 1 || manifest.Logs[0].Bytes == 0 {
				s.Errorf("the driver Pod of %s is there, and its manifest is %+v", app.Name, manifest)
			}
			continue
		}
		if len(manifest.Logs) > 0 || len(manifest.Missing) != 1 || manifest.Missing[0].What != "driver Pod "+app.Name+"-0-driver" ||
			!strings.Contains(manifest.Missing[0].Why, "the storage or the API server failed when it ended") {
			s.Errorf("the driver Pod of %s is gone, and its manifest is %+v", app.Name, manifest)
		}
	}
	s.untilCondition("retained", dialect.ConditionArchived, metav1.ConditionTrue, "Archived")
	s.untilCondition("released", dialect.ConditionArchived, metav1.ConditionFalse, "NotArchivedInTime") // nothing wrote to it
}
