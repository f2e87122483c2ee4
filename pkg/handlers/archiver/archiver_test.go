package archiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

var began = time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)

var pi = events.Object{
	Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication", Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
}

// env is an API server with an application whose attempt has ended, the logs of its Pods, and a folder for the archive.
type env struct {
	t        *testing.T
	app      *sparkv1.SparkApplication
	core     *kubefake.Clientset
	spark    *fake.Clientset
	settings *config.Config
	folder   string
	handler  events.Handler
	clock    *clocktesting.FakePassiveClock

	mu sync.Mutex
	// logs are the logs of containers by POD/CONTAINER, and of earlier runs by POD/CONTAINER/previous.
	logs map[string]string
	// broken are the errors after which the reading of a log succeeds.
	broken map[string]int
	// refused are errors of the API server in place of logs, and hanging are logs whose reading does not end.
	refused  map[string]error
	hanging  map[string]bool
	read     []string
	followed []string
}

func newEnv(t *testing.T, keys ...string) *env {
	t.Helper()
	e := &env{t: t, folder: t.TempDir(), logs: map[string]string{
		"pi-driver/spark-kubernetes-driver":      lines(3),
		"pi-driver/log-shipper":                  lines(1),
		"pi-driver/fetch":                        lines(2),
		"pi-exec-1/spark-kubernetes-executor":    lines(4),
		"pi-driver/log-shipper/previous":         lines(1),
		"other-exec-1/spark-kubernetes-executor": lines(9),
	}, broken: map[string]int{}, refused: map[string]error{}, hanging: map[string]bool{}, clock: clocktesting.NewFakePassiveClock(began.Add(time.Hour))}
	configMap := &corev1.ConfigMap{Data: map[string]string{"url": "file://" + e.folder}}
	for i := 0; i < len(keys); i += 2 {
		configMap.Data[keys[i]] = keys[i+1]
	}
	e.settings = config.Default()
	var err error
	if e.settings.Archive, err = config.NewArchive(configMap); err != nil {
		t.Fatal(err)
	}
	e.app = application()
	e.core = kubefake.NewClientset(objects()...)
	e.spark = fake.NewSimpleClientset(e.app)
	e.handler = e.archiver(e.clock).handler(e.spark, nil)
	return e
}

// archiver returns one that has the env's logs. Its handler answers when the job is done, however slow the machine is.
func (e *env) archiver(clock clock.PassiveClock) *Archiver {
	a := newArchiver(e.core.CoreV1(), archive.NewStores(), func() *config.Config { return e.settings }, clock)
	a.openLog, a.answerWithin = e.openLog, time.Hour
	return a
}

func lines(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "%s line %d\n", began.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), i)
	}
	return text.String()
}

func application() *sparkv1.SparkApplication {
	app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{
		Namespace: pi.Namespace, Name: pi.Name, UID: pi.UID, CreationTimestamp: metav1.NewTime(began), Labels: map[string]string{"team": "a"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	app.Spec.SparkConf = map[string]string{"spark.hadoop.fs.s3a.secret.key": "hunter2-secret"}
	app.Status.Firesteel = &v1alpha1.Record{
		Sequence: 3, Attempt: v1alpha1.Attempt{ID: 1, Since: metav1.NewMicroTime(began)},
		Launch: &v1alpha1.Launch{ID: "launch", ApplicationID: "spark-1", DriverPod: "pi-driver", DriverUID: "uid-of-driver"},
		Transitions: []v1alpha1.Transition{
			{Sequence: 1, Attempt: 0, State: string(lifecycle.Failed), Time: metav1.NewMicroTime(began)},
			{Sequence: 2, Attempt: 1, State: string(lifecycle.RunningHealthy), Time: metav1.NewMicroTime(began)},
			{
				Sequence: 3, Attempt: 1, State: string(lifecycle.Failed), Message: "It broke.", Time: metav1.NewMicroTime(began.Add(time.Minute)),
				End: &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed},
			},
		},
	}
	return app
}

func objects() []runtime.Object {
	ran := func(name string, restarts int32) corev1.ContainerStatus {
		terminated := &corev1.ContainerStateTerminated{ContainerID: "containerd://x", StartedAt: metav1.NewTime(began)}
		status := corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Terminated: terminated}}
		if restarts > 0 {
			status.LastTerminationState.Terminated = terminated
		}
		return status
	}
	pod := func(name string, uid types.UID, containers ...corev1.ContainerStatus) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: pi.Namespace, Name: name, UID: uid, Labels: map[string]string{"spark-app-selector": "spark-1"}},
			Status:     corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: containers},
		}
	}
	always := corev1.ContainerRestartPolicyAlways
	driver := pod("pi-driver", "uid-of-driver", ran("spark-kubernetes-driver", 0))
	driver.Spec.InitContainers = []corev1.Container{{Name: "fetch"}, {Name: "log-shipper", RestartPolicy: &always}}
	driver.Spec.Containers = []corev1.Container{{Name: "spark-kubernetes-driver", Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "hunter3-secret"}}}}
	driver.Spec.Volumes = []corev1.Volume{{Name: confVolume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "pi-conf"}},
	}}}
	waiting := corev1.ContainerStatus{Name: "never", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	driver.Status.InitContainerStatuses = []corev1.ContainerStatus{ran("fetch", 0), ran("log-shipper", 1), waiting}
	executor := pod("pi-exec-1", "uid-of-exec-1", ran("spark-kubernetes-executor", 0))
	executor.OwnerReferences = []metav1.OwnerReference{{UID: driver.UID}}
	return []runtime.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pi.Namespace, UID: "uid-of-team-a"}}, driver, executor,
		pod("other-exec-1", "uid-of-other", ran("spark-kubernetes-executor", 0)),
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: pi.Namespace, Name: "pi-conf"},
			Data: map[string]string{
				"spark.properties": "spark.hadoop.fs.s3a.secret.key=hunter2-secret\n",
				// Here if one ConfigMap has both. It came from a URL, and no redactor knows it.
				"podspec-configmap-key": "spec:\n  containers:\n  - args: [hunter4]\n",
			},
		},
		&corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: pi.Namespace, Name: "x"}, Message: "Pulled",
			InvolvedObject: corev1.ObjectReference{UID: "uid-of-driver"},
		},
	}
}

func (e *env) openLog(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := pod.Name + "/" + options.Container
	if options.Previous {
		key += "/previous"
	}
	e.read = append(e.read, key)
	if options.Follow {
		e.followed = append(e.followed, key)
	}
	text, ok := e.logs[key]
	switch {
	case e.hanging[key]:
		reader, writer := io.Pipe()
		context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
		return io.NopCloser(io.MultiReader(strings.NewReader(text), reader)), nil
	case e.refused[key] != nil:
		return nil, e.refused[key]
	case !ok:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, pod.Name)
	case !options.Timestamps:
		return nil, apierrors.NewBadRequest("without timestamps it cannot be resumed")
	case e.broken[key] > 0:
		e.broken[key]--
		return io.NopCloser(io.MultiReader(strings.NewReader(text[:len(text)/2]), iotest.ErrReader(errors.New("reset by peer")))), nil
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (e *env) handle() error {
	e.t.Helper()
	return e.handler(e.t.Context(), e.event())
}

// event returns that of the end of the attempt.
func (e *env) event() cloudevents.Event {
	e.t.Helper()
	event, err := events.NewTransitionEvent(pi, e.app.Status.Firesteel.Transitions[2])
	if err != nil {
		e.t.Fatal(err)
	}
	return event
}

// annotation returns that of the driver Pod.
func (e *env) annotation() string {
	e.t.Helper()
	pod, err := e.core.CoreV1().Pods(pi.Namespace).Get(e.t.Context(), "pi-driver", metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return pod.Annotations[lifecycle.ArchivedAnnotation]
}

func (e *env) attempt() *archive.Attempt {
	e.t.Helper()
	store, err := archive.Open(e.t.Context(), "file://"+e.folder)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { store.Close() })
	return store.Attempt(archive.ID{
		Namespace: archive.Namespace{Name: pi.Namespace, UID: "uid-of-team-a"}, Resource: "sparkapplications.spark.apache.org", Name: pi.Name, UID: pi.UID,
	}, 1)
}

func (e *env) manifest() *archive.Manifest {
	e.t.Helper()
	manifest, err := e.attempt().Manifest(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	slices.SortFunc(manifest.Objects, func(a, b archive.Object) int { return strings.Compare(a.File, b.File) })
	return manifest
}

func TestAnAttemptIsArchivedWhole(t *testing.T) {
	e := newEnv(t)
	for range 3 {
		if err := e.handle(); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.annotation(); got != "whole.uid-of-driver" {
		t.Errorf("the annotation is %q", got)
	}
	if len(e.read) != 5 {
		t.Errorf("logs were read again: %v", e.read)
	}
	log := func(pod, uid, container string, restart int32, role string, count int) archive.Log {
		from, to := began, began.Add(time.Duration(count-1)*time.Second)
		return archive.Log{
			LogID: archive.LogID{Pod: pod, PodUID: types.UID(uid), Container: container, Restart: restart}, Role: role, From: &from, To: &to, Bytes: int64(len(lines(count))),
		}
	}
	want := &archive.Manifest{
		Format: archive.Format, Attempt: 1, ApplicationID: "spark-1", Began: began, Ended: began.Add(time.Minute), Archived: began.Add(time.Hour),
		State: "Failed", Outcome: "Failed", Message: "It broke.",
		Logs: []archive.Log{
			log("pi-driver", "uid-of-driver", "spark-kubernetes-driver", 0, archive.RoleDriver, 3),
			log("pi-exec-1", "uid-of-exec-1", "spark-kubernetes-executor", 0, archive.RoleExecutor, 4),
			log("pi-driver", "uid-of-driver", "log-shipper", 0, archive.RoleSidecar, 1),
			log("pi-driver", "uid-of-driver", "log-shipper", 1, archive.RoleSidecar, 1),
			log("pi-driver", "uid-of-driver", "fetch", 0, archive.RoleInit, 2),
		},
		Objects: []archive.Object{
			{File: "application.json.gz", Kind: "SparkApplication", Name: "pi"},
			{File: "configmap-pi-conf.json.gz", Kind: "ConfigMap", Name: "pi-conf"},
			{File: "events.json.gz", Kind: "Event", Name: "pi"},
			{File: "pod-pi-driver.json.gz", Kind: "Pod", Name: "pi-driver"},
			{File: "pod-pi-exec-1.json.gz", Kind: "Pod", Name: "pi-exec-1"},
			{File: "transitions.json.gz", Kind: "Transition", Name: "pi"},
		},
	}
	manifest := e.manifest()
	if diff := cmp.Diff(want, manifest, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
	for _, log := range manifest.Logs {
		reader, err := e.attempt().OpenLog(t.Context(), log.LogID, archive.LogOptions{Timestamps: true, Tail: -1})
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil || int64(len(content)) != log.Bytes {
			t.Errorf("the log of %s has %d bytes, want %d; %v", log.Container, len(content), log.Bytes, err)
		}
	}
}

func TestArchivedObjectsHoldNoSecret(t *testing.T) {
	e := newEnv(t)
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	for _, object := range e.manifest().Objects {
		content, err := e.attempt().Get(t.Context(), 1<<20, "objects", object.File)
		if err != nil || !json.Valid(content) {
			t.Fatalf("%s: %v", object.File, err)
		}
		for _, unwanted := range []string{"hunter2-secret", "hunter3-secret", "hunter4", "managedFields"} {
			if strings.Contains(string(content), unwanted) {
				t.Errorf("%s has %s: %s", object.File, unwanted, content)
			}
		}
	}
}

func TestTheLogsToArchiveAreASetting(t *testing.T) {
	e := newEnv(t, "driver-logs", "none")
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	if logs := e.manifest().Logs; len(logs) != 1 || logs[0].Pod != "pi-exec-1" {
		t.Errorf("%+v", logs)
	}
}

func TestWhatCannotBeReadIsNamedAsMissing(t *testing.T) {
	e := newEnv(t, "max-log-bytes", "100")
	delete(e.logs, "pi-driver/log-shipper/previous")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("no rule"))
	e.core.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden })
	e.core.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden })
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	manifest := e.manifest()
	var missing []string
	for _, m := range manifest.Missing {
		missing = append(missing, m.What)
	}
	slices.Sort(missing)
	if diff := cmp.Diff([]string{"ConfigMap pi-conf", "Kubernetes Events"}, missing); diff != "" {
		t.Error(diff)
	}
	for _, log := range manifest.Logs {
		want := ""
		switch {
		case log.Container == "log-shipper" && log.Restart == 0:
			want = "the node does not give it"
		case log.Container == "spark-kubernetes-executor":
			want = "max-log-bytes"
		}
		if want == "" && log.Missing != "" || !strings.Contains(log.Missing, want) || log.Bytes > 100 {
			t.Errorf("%+v, want %q", log, want)
		}
	}
	if got := e.annotation(); got != "partly.uid-of-driver" {
		t.Errorf("the annotation is %q", got)
	}
}

// A moment later, the API server may give the log. That is asked again while there is time, and all else is stored at once.
func TestAnErrorThatPassesIsAskedAgain(t *testing.T) {
	const key = "pi-exec-1/spark-kubernetes-executor"
	pods := schema.GroupResource{Resource: "pods"}
	ended := began.Add(time.Minute)
	for name, test := range map[string]struct {
		err   error
		after time.Duration
		want  string
	}{
		"too many requests": {apierrors.NewTooManyRequests("slow down", 1), 0, ""},
		"unavailable":       {apierrors.NewServiceUnavailable("no"), 59 * time.Second, ""},
		"connection":        {errors.New("dial tcp: connection refused"), 0, ""},
		"server timeout":    {apierrors.NewServerTimeout(pods, "get", 1), 0, ""},
		"timeout":           {apierrors.NewTimeoutError("late", 1), 0, ""},
		"internal":          {apierrors.NewInternalError(errors.New("dial tcp: refused")), 0, ""},
		"no time is left":   {apierrors.NewServiceUnavailable("no"), time.Minute, "partly.uid-of-driver"},
		"not found":         {apierrors.NewNotFound(pods, "pi-exec-1"), 0, "partly.uid-of-driver"},
		"bad request":       {apierrors.NewBadRequest("the container is waiting to start"), 0, "partly.uid-of-driver"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.clock.SetTime(ended.Add(test.after))
			e.refused[key] = test.err
			if err := e.handle(); (err != nil) != (test.want == "") || e.annotation() != test.want {
				t.Errorf("the annotation is %q: %v", e.annotation(), err)
			}
			if len(e.read) != 5 && test.want == "" {
				t.Errorf("it read %v", e.read)
			}
			if delete(e.refused, key); test.want != "" {
				return
			}
			if err := e.handle(); err != nil || e.annotation() != "whole.uid-of-driver" || len(e.manifest().Logs) != 5 {
				t.Errorf("afterwards the annotation is %q: %v", e.annotation(), err)
			}
		})
	}
}

func TestABrokenConnectionLosesAndRepeatsNoLine(t *testing.T) {
	e := newEnv(t)
	e.broken["pi-driver/spark-kubernetes-driver"] = readings - 1
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	log := e.manifest().Logs[0]
	if log.Bytes != int64(len(lines(3))) || log.Missing != "" {
		t.Errorf("%+v", log)
	}
}

func TestALateFirstLineMayHaveABeginningThatIsMissing(t *testing.T) {
	e := newEnv(t)
	e.logs["pi-exec-1/spark-kubernetes-executor"] = began.Add(time.Minute).Format(time.RFC3339Nano) + " late\n"
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	for _, log := range e.manifest().Logs {
		if log.BeginningMissing != (log.Role == archive.RoleExecutor) {
			t.Errorf("%+v", log)
		}
	}
}

// While the storage fails, nothing shows the attempt as archived. Afterwards it is archived whole.
func TestFailingStorageIsAskedAgain(t *testing.T) {
	e := newEnv(t)
	if err := os.RemoveAll(e.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.folder, nil, 0o600); err != nil { // where the folder was is a file
		t.Fatal(err)
	}
	if err := e.handle(); err == nil || e.annotation() != "" {
		t.Errorf("the handler is done with %q: %v", e.annotation(), err)
	}
	if err := os.Remove(e.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(e.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := e.handle(); err != nil || e.annotation() != "whole.uid-of-driver" || len(e.manifest().Logs) != 5 {
		t.Errorf("the annotation is %q: %v", e.annotation(), err)
	}
}

func TestNothingIsArchivedThatIsNotDue(t *testing.T) {
	for name, change := range map[string]func(*env){
		"no archive":         func(e *env) { e.settings = config.Default() },
		"a running attempt":  func(e *env) { e.app.Status.Firesteel.Transitions = e.app.Status.Firesteel.Transitions[:2] },
		"no driver":          func(e *env) { e.app.Status.Firesteel.Launch.DriverUID = "" },
		"another's object":   func(e *env) { e.app.UID = "another" },
		"no record":          func(e *env) { e.app.Status.Firesteel = nil },
		"it cannot be read":  func(e *env) { e.app.Undecodable = "no" },
		"it was given up on": func(e *env) { e.app.Status.Firesteel.Launch.Archived = string(lifecycle.ArchivedNot) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			event, err := events.NewTransitionEvent(pi, e.app.Status.Firesteel.Transitions[2])
			if err != nil {
				t.Fatal(err)
			}
			change(e)
			a := e.archiver(clocktesting.NewFakePassiveClock(began))
			if err := a.handler(fake.NewSimpleClientset(e.app), nil)(t.Context(), event); err != nil {
				t.Fatal(err)
			}
			stored, err := filepath.Glob(filepath.Join(e.folder, "*"))
			if err != nil || len(stored) > 0 || e.annotation() != "" {
				t.Errorf("it stored %v, %v; %q", stored, err, e.annotation())
			}
		})
	}
}

func TestForgedEventsArchiveNothing(t *testing.T) {
	e := newEnv(t)
	event := cloudevents.NewEvent()
	event.SetType("dev.firesteel.application.failed.v1")
	event.SetSource("/nonsense")
	if err := e.handler(t.Context(), event); err == nil || len(e.read) > 0 {
		t.Errorf("%v, %v", err, e.read)
	}
}

// Two replicas may archive an attempt at once. The record says what the first one stored, so a later one, which reads less, takes nothing of that back.
func TestAReplicaThatReadsLessLeavesTheManifestOfAnother(t *testing.T) {
	e := newEnv(t)
	slow := e.archiver(e.clock)
	other := sync.OnceValue(e.handle)
	slow.openLog = func(_ context.Context, pod types.NamespacedName, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
		if err := other(); err != nil {
			return nil, err
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, pod.Name)
	}
	if err := slow.handler(e.spark, nil)(t.Context(), e.event()); err != nil {
		t.Fatal(err)
	}
	manifest := e.manifest()
	if missing := slices.ContainsFunc(manifest.Logs, func(log archive.Log) bool { return log.Missing != "" }); missing || len(manifest.Missing) > 0 {
		t.Errorf("the manifest of the first one is gone: %+v", manifest)
	}
	if got := e.annotation(); got != "whole.uid-of-driver" {
		t.Errorf("the annotation is %q", got)
	}
}

// A job that takes long goes on, and the handler answers that it has begun. It is not begun twice.
func TestALongJobRunsOnce(t *testing.T) {
	e := newEnv(t)
	a := e.archiver(clocktesting.NewFakePassiveClock(began))
	hold, began, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	work := func(context.Context) error {
		close(began)
		<-hold
		close(ended)
		return nil
	}
	first, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if err := a.run(first, "x", "team-a", work); err != nil {
		t.Fatal(err)
	}
	second, cancel2 := context.WithCancel(t.Context())
	cancel2()
	if err := a.run(second, "x", "team-a", func(context.Context) error { return errors.New("it began again") }); err != nil {
		t.Fatal(err)
	}
	close(hold)
	<-ended
}

// In a burst of ends, a namespace alone has eight slots, and what waits is not asked for again: it begins when a slot is free.
func TestABurstOfEndsIsArchivedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := config.Default()
		var err error
		if settings.Archive, err = config.NewArchive(&corev1.ConfigMap{Data: map[string]string{"url": "file:///nowhere"}}); err != nil {
			t.Fatal(err)
		}
		a := newArchiver(kubefake.NewClientset().CoreV1(), archive.NewStores(), func() *config.Config { return settings }, clock.RealClock{})
		const ends = 100
		begun, done := time.Now(), make(chan time.Duration, ends)
		for i := range ends {
			go func() {
				err := a.run(t.Context(), types.UID(fmt.Sprint(i)), "team-a", func(ctx context.Context) error {
					return a.inSlot(ctx, "team-a", func(context.Context) error {
						<-time.After(5 * time.Second)
						done <- time.Since(begun)
						return nil
					})
				})
				if err != nil {
					t.Errorf("end %d: %v", i, err)
				}
			}()
		}
		for range ends {
			if after := <-done; after > (ends/maxJobsPerNamespace+1)*5*time.Second {
				t.Errorf("an attempt was archived after %s", after)
			}
		}
	})
}

// A panic in a goroutine of its own would end the controller.
func TestAPanicIsAnErrorOfItsJob(t *testing.T) {
	e := newEnv(t)
	a := e.archiver(clocktesting.NewFakePassiveClock(began))
	for range maxJobs + 1 { // slots and jobs are free again
		err := a.run(t.Context(), "x", "team-a", func(context.Context) error { panic("it broke") })
		if err == nil || !strings.Contains(err.Error(), "it broke") {
			t.Fatalf("the error is %v", err)
		}
	}
	e.core.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) { panic("a part broke") })
	if err := e.handle(); err == nil || !strings.Contains(err.Error(), "a part broke") || e.annotation() != "" {
		t.Errorf("the annotation is %q: %v", e.annotation(), err)
	}
}

// config-archive may name an archive for each of 1000 namespaces, and one for all others.
func TestAllArchivesOfTheSettingsOpen(t *testing.T) {
	folder := t.TempDir()
	var namespaces strings.Builder
	for i := range 1000 {
		url := fmt.Sprintf("file://%s?prefix=%d/", folder, i)
		fmt.Fprintf(&namespaces, "team-%d: %s\n", i, url)
	}
	settings, err := config.NewArchive(&corev1.ConfigMap{Data: map[string]string{"url": "file://" + folder, "namespaces": namespaces.String()}})
	if err != nil || len(settings.URLs()) != 1001 {
		t.Fatalf("%d archives: %v", len(settings.URLs()), err)
	}
	stores := archive.NewStores()
	for url := range settings.URLs() {
		if _, err := stores.For(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
}

// The uid of a namespace is read once for many applications, so that an attempt takes six requests besides its logs.
func TestTheBudgetOfRequestsIsKept(t *testing.T) {
	e := newEnv(t)
	requests := func() (requests []string) {
		for _, action := range append(e.core.Actions(), e.spark.Actions()...) {
			requests = append(requests, action.GetVerb()+" "+action.GetResource().Resource)
		}
		e.core.ClearActions()
		e.spark.ClearActions()
		slices.Sort(requests)
		return requests
	}
	want := []string{"get configmaps", "get namespaces", "get sparkapplications", "list events", "list events", "list pods", "patch pods"}
	const applications = 50
	for i := range applications {
		if i > 0 {
			e.another(i)
			want = []string{"get configmaps", "get sparkapplications", "list events", "list events", "list pods", "patch pods"}
		}
		requests()
		if err := e.handle(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, requests()); diff != "" {
			t.Fatalf("requests besides the logs (-want +got):\n%s", diff)
		}
	}
}

// another makes the application another one, whose driver has ended, too.
func (e *env) another(i int) {
	e.t.Helper()
	ctx, pods := e.t.Context(), e.core.CoreV1().Pods(pi.Namespace)
	pod, err := pods.Get(ctx, "pi-driver", metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	pod.UID, pod.Annotations = types.UID(fmt.Sprint("uid-of-driver-", i)), nil
	if _, err := pods.Update(ctx, pod, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
	e.app.Status.Firesteel.Launch.DriverUID = pod.UID
	if _, err := e.spark.SparkV1().SparkApplications(pi.Namespace).Update(ctx, e.app, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
}

// A namespace that was made anew is not taken for the one before.
func TestTheUIDOfANamespaceIsReadAgainForAYoungApplication(t *testing.T) {
	e := newEnv(t)
	namespaces := newNamespaceUIDs(e.core.CoreV1(), e.clock)
	object := func(created time.Time) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Namespace: pi.Namespace, CreationTimestamp: metav1.NewTime(created)}
	}
	if uid, err := namespaces.of(t.Context(), object(began)); err != nil || uid != "uid-of-team-a" {
		t.Fatalf("%s, %v", uid, err)
	}
	if _, err := e.core.CoreV1().Namespaces().Update(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pi.Namespace, UID: "new"}}, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		created time.Time
		want    types.UID
	}{{began, "uid-of-team-a"}, {e.clock.Now(), "new"}} {
		if uid, err := namespaces.of(t.Context(), object(test.created)); err != nil || uid != test.want {
			t.Errorf("of %s: %s, %v, want %s", test.created, uid, err, test.want)
		}
	}
}

// The list of Pods ends before the driver's, or its label was changed.
func TestADriverThatIsNotListedIsReadByItsName(t *testing.T) {
	e := newEnv(t)
	e.core.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{Continue: "more"}}
		for i := range maxPods {
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("another-", i)}})
		}
		return true, list, nil
	})
	if err := e.handle(); err != nil || e.annotation() != "partly.uid-of-driver" {
		t.Fatalf("the annotation is %q: %v", e.annotation(), err)
	}
	if logs := e.manifest().Logs; len(logs) != 4 || logs[0].Role != archive.RoleDriver {
		t.Errorf("%+v", logs)
	}
}

func TestWhatIsLeftOfADriverThatIsGoneIsArchived(t *testing.T) {
	e := newEnv(t)
	if err := e.core.CoreV1().Pods(pi.Namespace).Delete(t.Context(), "pi-driver", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.handle(); err != nil {
			t.Fatal(err)
		}
	}
	manifest := e.manifest()
	if len(manifest.Logs) != 1 || manifest.Logs[0].Pod != "pi-exec-1" || len(e.read) != 1 {
		t.Errorf("%+v, read %v", manifest.Logs, e.read)
	}
	if len(manifest.Missing) != 1 || manifest.Missing[0].What != "driver Pod pi-driver" {
		t.Errorf("%+v", manifest.Missing)
	}
}

// running makes the containers of a Pod run.
func (e *env) running(name string) {
	e.t.Helper()
	pods := e.core.CoreV1().Pods(pi.Namespace)
	pod, err := pods.Get(e.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}}
	}
	if _, err := pods.UpdateStatus(e.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
}

// Executors end a moment after their driver: their logs are read until then.
func TestTheLogOfAnExecutorIsReadToItsEnd(t *testing.T) {
	e := newEnv(t)
	e.running("pi-exec-1")
	if err := e.handle(); err != nil || e.annotation() != "whole.uid-of-driver" {
		t.Errorf("the annotation is %q: %v", e.annotation(), err)
	}
	if want := []string{"pi-exec-1/spark-kubernetes-executor"}; !slices.Equal(e.followed, want) {
		t.Errorf("it followed %v", e.followed)
	}
}

func TestTheLogOfADriverThatRunsHasNoEnd(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.Record){
		"it was stopped": func(*v1alpha1.Record) {},
		"it is being suspended": func(r *v1alpha1.Record) {
			r.Transitions[2].State, r.Transitions[2].End = string(lifecycle.Suspending), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			change(e.app.Status.Firesteel)
			if _, err := e.spark.SparkV1().SparkApplications(pi.Namespace).Update(t.Context(), e.app, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			e.running("pi-driver")
			e.running("pi-exec-1")
			if err := e.handle(); err != nil || e.annotation() != "partly.uid-of-driver" {
				t.Errorf("the annotation is %q: %v", e.annotation(), err)
			}
			for _, log := range e.manifest().Logs[:2] {
				if !strings.Contains(log.Missing, "still ran") {
					t.Errorf("%+v", log)
				}
			}
			if len(e.followed) > 0 {
				t.Errorf("it followed %v", e.followed)
			}
		})
	}
}

// What follows the attempt does not wait longer: what was read until then is stored, and the rest is named as missing.
func TestAnAttemptIsArchivedBeforeTheBoundOfItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, "wait", "1s")
		e.clock.SetTime(began.Add(time.Minute))
		e.hanging["pi-exec-1/spark-kubernetes-executor"] = true
		since := time.Now()
		if err := e.handle(); err != nil || e.annotation() != "partly.uid-of-driver" || time.Since(since) >= time.Second {
			t.Errorf("the annotation is %q after %s: %v", e.annotation(), time.Since(since), err)
		}
		log := e.manifest().Logs[1]
		if log.Bytes != int64(len(lines(4))) || !strings.Contains(log.Missing, "took longer") {
			t.Errorf("%+v", log)
		}
	})
}

// An error of the API server that passes is no reason to name Events or a ConfigMap as missing.
func TestEventsAndTheConfigMapAreAskedForAgain(t *testing.T) {
	for _, request := range [][2]string{{"list", "events"}, {"get", "configmaps"}} {
		for name, passes := range map[string]error{
			"unavailable": apierrors.NewServiceUnavailable("no"), "connection": errors.New("dial tcp: connection refused"),
		} {
			t.Run(request[1]+" "+name, func(t *testing.T) {
				e := newEnv(t)
				e.clock.SetTime(began.Add(time.Minute))
				failing := true
				e.core.PrependReactor(request[0], request[1], func(clienttesting.Action) (bool, runtime.Object, error) { return failing, nil, passes })
				if err := e.handle(); err == nil || e.annotation() != "" {
					t.Errorf("the annotation is %q: %v", e.annotation(), err)
				}
				failing = false
				if err := e.handle(); err != nil || e.annotation() != "whole.uid-of-driver" {
					t.Errorf("afterwards the annotation is %q: %v", e.annotation(), err)
				}
			})
		}
	}
}

// used lets the attempt have used something until its last count, with a gap in seconds.
func (e *env) used(gap int64) {
	e.t.Helper()
	counted := metav1.NewTime(began.Add(30 * time.Second))
	e.app.Status.Firesteel.Usage = &v1alpha1.ApplicationUsage{
		Total: v1alpha1.Usage{Driver: &v1alpha1.PodUsage{Seconds: 130}, GapSeconds: gap},
		Attempts: []v1alpha1.AttemptUsage{{
			Attempt: 1, DriverPod: "pi-driver", DriverUID: "uid-of-driver", CountedAt: counted, RunningExecutors: "1", EndedExecutors: "2",
			Running: v1alpha1.Usage{Driver: &v1alpha1.PodUsage{Seconds: 30}, Executors: &v1alpha1.PodUsage{Seconds: 20}, RunningPods: 2},
			Ended:   v1alpha1.Usage{Executors: &v1alpha1.PodUsage{Seconds: 7}, GapSeconds: gap},
		}},
	}
	if _, err := e.spark.SparkV1().SparkApplications(pi.Namespace).Update(e.t.Context(), e.app, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
	for name, seconds := range map[string][2]int{"pi-driver": {0, 40}, "pi-exec-1": {10, 55}} {
		pods := e.core.CoreV1().Pods(pi.Namespace)
		pod, err := pods.Get(e.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			e.t.Fatal(err)
		}
		pod.Labels["spark-exec-id"] = "1"
		at := func(second int) metav1.Time { return metav1.NewTime(began.Add(time.Duration(second) * time.Second)) }
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(seconds[0])}}
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].State.Terminated = &corev1.ContainerStateTerminated{ContainerID: "x", FinishedAt: at(seconds[1])}
		}
		if _, err := pods.Update(e.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			e.t.Fatal(err)
		}
	}
}

// usage returns what is archived of the usage.
func (e *env) usage() (got archive.Usage) {
	e.t.Helper()
	content, err := e.attempt().Get(e.t.Context(), 1<<20, archive.UsageFile)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal(content, &got); err != nil {
		e.t.Fatal(err)
	}
	return got
}

func TestTheUsageOfAnAttemptIsArchivedToItsLastExecutor(t *testing.T) {
	e := newEnv(t)
	e.used(0)
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	got := e.usage()
	if got.Attempt.Driver.Seconds != 40 || got.Attempt.Executors.Seconds != 7+45 || got.Application.Driver.Seconds != 140 || got.Attempt.GapSeconds != 0 {
		t.Errorf("%+v", got)
	}
	if missing := e.manifest().Missing; len(missing) != 1 || missing[0].What != "logs of 1 executor" {
		t.Errorf("%+v", missing)
	}
}
