package consolepages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
)

// Gone is the application of the sample that only the archive has, and GoneCluster the cluster.
var (
	Gone        = live.Ref{Namespace: "reports", Resource: apacheApplications, Name: "daily-revenue-20260301"}
	GoneCluster = live.Ref{Namespace: "ml", Resource: clusters, Name: "nightly-lab"}
)

// Archive returns the archive of the sample; nil if the viewer has none.
func (v *Viewer) Archive() pages.Archive {
	if v.Archived == nil {
		return nil
	}
	return &archived{v.Archived, v}
}

// Archived is an archive with applications that failed in their second attempt.
type Archived struct {
	apps    []api.Details
	objects map[string]any
	log     string
}

// archived is an archive that a viewer reads.
type archived struct {
	*Archived
	viewer *Viewer
}

// Attic returns an archive with the application Gone and others, and GoneCluster. All texts of it are text if that is not empty.
func Attic(text string) *Archived {
	a := &Archived{objects: map[string]any{}}
	if a.log = text; text == "" {
		a.log = "Exception in thread \"main\" java.io.IOException: No space left on device"
	}
	a.add(Gone.Name, text, 72*time.Hour)
	for i := range 8 {
		a.add(fmt.Sprintf("daily-revenue-202602%02d", 28-i), text, time.Duration(i+4)*24*time.Hour)
	}
	a.addCluster(text)
	return a
}

// addCluster adds GoneCluster, whose logs are not whole.
func (a *Archived) addCluster(text string) {
	word := func(known string) string { return cmp.Or(text, known) }
	name, created := GoneCluster.Name, ago(26*time.Hour)
	last, gone := created.Add(90*time.Second), created.Add(11*time.Hour)
	micro := metav1.NewMicroTime
	steps := []v1alpha1.Transition{
		{Sequence: 1, Time: micro(created), State: "Submitted", Message: word("Spark cluster has been created on Kubernetes Cluster.")},
		{Sequence: 2, Time: micro(last), State: "RunningHealthy", Message: word("Cluster has reached ready state.")},
	}
	log := func(role string, number int) api.Log {
		return api.Log{Pod: fmt.Sprintf("%s-%s-%d", name, role, number), PodUID: "p", Container: role, Role: role, Bytes: 2 << 20}
	}
	worker := log("worker", 1)
	worker.Missing = word("possibly the end")
	files := []api.Object{
		{File: "cluster.json.gz", Kind: "SparkCluster", Name: name}, {File: "transitions.json.gz", Kind: "Transition", Name: name}, {File: "events.json.gz", Kind: "Event", Name: name},
	}
	a.apps = append(a.apps, api.Details{
		Application: api.Application{
			Namespace: GoneCluster.Namespace, Resource: clusters, APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Name: name, UID: "uid-" + name, Created: created, Ended: &last,
			State: word("RunningHealthy"), Message: word("Cluster has reached ready state."),
		},
		Attempts: []api.Attempt{{
			Began: &created, Ended: &last, Archived: &gone, State: word("RunningHealthy"), Logs: []api.Log{log("master", 0), log("worker", 0), worker}, Objects: files,
			Missing: []api.Missing{{What: word("log of Pod " + name + "-worker-2"), Why: word("its Pod was gone")}},
		}},
	})
	a.objects[name+"/0/cluster.json.gz"] = map[string]any{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkCluster",
		"metadata": map[string]any{"namespace": GoneCluster.Namespace, "name": name, "uid": "uid-" + name, "creationTimestamp": created.Format(time.RFC3339)},
		"spec": map[string]any{
			"runtimeVersions":    map[string]any{"sparkVersion": "4.1.4"},
			"clusterTolerations": map[string]any{"instanceConfig": map[string]any{"initWorkers": 3, "minWorkers": 3, "maxWorkers": 3}},
			"sparkConf":          map[string]any{"spark.hadoop.fs.s3a.secret.key": "abc12"},
		},
		"status": map[string]any{"firesteel": v1alpha1.Record{Transitions: steps}, "currentState": map[string]any{"currentStateSummary": "RunningHealthy", "message": word("ready")}},
	}
	a.objects[name+"/0/transitions.json.gz"] = map[string]any{"items": steps}
	a.objects[name+"/0/events.json.gz"] = corev1.EventList{Items: []corev1.Event{{
		Type: corev1.EventTypeWarning, Reason: word("FailedScheduling"), Message: word("0/4 nodes are available: insufficient memory"), Count: 7, LastTimestamp: metav1.NewTime(last),
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: name + "-worker-2"},
	}}}
}

func (a *Archived) add(name, text string, age time.Duration) {
	word := func(known string) string {
		if text == "" {
			return known
		}
		return text
	}
	created := ago(age)
	ends := []time.Time{created.Add(10 * time.Minute), created.Add(25 * time.Minute)}
	app := api.Details{Application: api.Application{
		Namespace: Gone.Namespace, Resource: Gone.Resource, APIVersion: "spark.apache.org/v1", Kind: "SparkApplication", Name: name, UID: "uid-" + name,
		Created: created, Ended: &ends[1], Attempt: 1, State: word("Failed"), Outcome: "Failed", Message: word("The driver exited with code 1."),
	}}
	var before []v1alpha1.Transition
	for number, end := range ends {
		began := created
		if number > 0 {
			began = ends[number-1].Add(20 * time.Second)
		}
		steps := stepsOf(int64(number), int64(len(before)), began, end, word)
		driver := fmt.Sprintf("%s-%d-driver", name, number)
		attempt := api.Attempt{
			Attempt: int64(number), ApplicationID: fmt.Sprintf("spark-a%d", number), Began: &began, Ended: &end, Archived: &end, State: word("Failed"), Outcome: "Failed",
			Logs: []api.Log{
				{Pod: driver, PodUID: "d", Container: "spark-kubernetes-driver", Role: "driver", Bytes: 3 << 20},
				{Pod: word(name + "-exec-1"), PodUID: word("e"), Container: word("spark-kubernetes-executor"), Role: word("executor"), Bytes: 1 << 20, BeginningMissing: true},
			},
			Objects: []api.Object{
				{File: "application.json.gz", Kind: "SparkApplication", Name: name}, {File: "transitions.json.gz", Kind: "Transition", Name: name},
				{File: "pod-" + driver + ".json.gz", Kind: "Pod", Name: driver}, {File: "events.json.gz", Kind: "Event", Name: name},
			},
			Missing: []api.Missing{{What: word("log of Pod " + name + "-exec-2"), Why: word("its Pod was gone")}},
		}
		used := v1alpha1.Usage{Driver: &v1alpha1.PodUsage{CoreMilliseconds: 600_000, MebibyteSeconds: 1_300_000}, PeakExecutors: 4}
		attempt.Usage, _ = json.Marshal(archive.Usage{Attempt: used, Application: used}) // it can be encoded
		object, _ := (&Viewer{}).Object(context.Background(), live.Ref{Namespace: Gone.Namespace, Name: name}, "v1")
		object.Object["metadata"] = map[string]any{"namespace": Gone.Namespace, "name": name, "uid": app.UID, "creationTimestamp": created.Format(time.RFC3339)}
		record := v1alpha1.Record{Transitions: steps, Attempt: v1alpha1.Attempt{ID: int64(number)}, Launch: &v1alpha1.Launch{DriverPod: driver, DriverUID: "d", ApplicationID: attempt.ApplicationID}}
		object.Object["status"] = map[string]any{"firesteel": record, "currentState": map[string]any{"currentStateSummary": "Failed", "message": word("exit code 1")}}
		put := func(file string, content any) { a.objects[name+fmt.Sprint("/", number, "/", file)] = content }
		put("application.json.gz", object.Object)
		put("transitions.json.gz", map[string]any{"items": steps})
		put("pod-"+driver+".json.gz", podOf(driver, began, end, word))
		put("events.json.gz", corev1.EventList{Items: []corev1.Event{{
			Type: corev1.EventTypeWarning, Reason: word("Failed"), Message: word("Error: exit code 1"), Count: 2, LastTimestamp: metav1.NewTime(end),
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: driver},
		}}})
		before = append(before, steps...)
		app.Attempts = append(app.Attempts, attempt)
	}
	a.apps = append(a.apps, app)
}

func stepsOf(attempt, sequence int64, began, end time.Time, word func(string) string) []v1alpha1.Transition {
	at := metav1.NewMicroTime
	code := int32(1)
	return []v1alpha1.Transition{
		{Sequence: sequence + 1, Time: at(began), State: "DriverRequested", Attempt: attempt},
		{Sequence: sequence + 2, Time: at(began.Add(9 * time.Second)), State: "RunningHealthy", Attempt: attempt},
		{
			Sequence: sequence + 3, Time: at(end), State: "Failed", Attempt: attempt,
			End: &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, ExitCode: &code, Message: word("The driver exited with code 1."), RestartAllowed: attempt == 0},
		},
	}
}

func podOf(name string, began, end time.Time, word func(string) string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Gone.Namespace, Name: name, UID: "d", CreationTimestamp: metav1.NewTime(began), Labels: map[string]string{"spark-role": "driver"},
		},
		Spec: corev1.PodSpec{NodeName: word("node-c"), Containers: []corev1.Container{{Name: "spark-kubernetes-driver"}}},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "spark-kubernetes-driver", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 1, Reason: word("Error"), Message: word("exit code 1"), StartedAt: metav1.NewTime(began.Add(5 * time.Second)), FinishedAt: metav1.NewTime(end),
			}},
		}}},
	}
}

// List returns the applications of a namespace, two on a page.
func (a *archived) List(_ context.Context, namespace string, filter api.Filter, token string) (*api.Applications, error) {
	if !a.viewer.Sees(namespace, "") {
		return nil, absent
	}
	page := &api.Applications{}
	const size = 2
	for i := range a.apps {
		app := a.apps[i].Application
		listed := filter.Resource == app.Resource || filter.Resource == "" && app.Resource != clusters
		if app.Namespace != namespace || !listed || filter.Name != "" && filter.Name != app.Name || filter.State != "" && filter.State != app.State || token != "" && app.UID > token {
			continue
		}
		if len(page.Items) == size {
			page.Continue = app.UID
			break
		}
		page.Items = append(page.Items, app)
	}
	return page, nil
}

var absent = &api.Error{Code: http.StatusNotFound, Reason: "NotFound", Message: "it is not in the archive, or you may not read it"}

// Named returns the applications with a name.
func (a *archived) Named(_ context.Context, namespace, _, name string) (*api.Applications, error) {
	page := &api.Applications{}
	for i := range a.apps {
		if app := a.apps[i].Application; app.Namespace == namespace && app.Name == name && a.viewer.Sees(namespace, "") {
			page.Items = append(page.Items, app)
		}
	}
	if len(page.Items) == 0 {
		return nil, absent
	}
	return page, nil
}

// Details returns an application.
func (a *archived) Details(_ context.Context, wanted *api.Application) (*api.Details, error) {
	at := slices.IndexFunc(a.apps, func(app api.Details) bool {
		return app.UID == wanted.UID && app.Name == wanted.Name && app.Namespace == wanted.Namespace
	})
	if at < 0 || !a.viewer.Sees(wanted.Namespace, "") {
		return nil, absent
	}
	return &a.apps[at], nil
}

// Object reads an object.
func (a *archived) Object(_ context.Context, app *api.Application, attempt int64, file string, into any) error {
	object, ok := a.objects[app.Name+fmt.Sprint("/", attempt, "/", file)]
	if !ok || !a.viewer.Sees(app.Namespace, "") {
		return absent
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, into)
}

// Log returns a log of three lines, or the last ones of it.
func (a *archived) Log(_ context.Context, app *api.Application, attempt int64, log api.Log, options api.LogOptions) (io.ReadCloser, error) {
	known := log.Pod == fmt.Sprintf("%s-%d-driver", app.Name, attempt) || app.Resource == clusters && strings.HasPrefix(log.Pod, app.Name)
	if !known || !a.viewer.Sees(app.Namespace, "") {
		return nil, absent
	}
	lines := []string{"26/03/01 08:00:01 INFO SparkContext: Running Spark version 4.1.4", "26/03/01 08:00:09 INFO Executor: <b>ready</b>", "26/03/01 08:24:58 ERROR " + a.log}
	if options.Tail >= 0 {
		lines = lines[max(len(lines)-int(options.Tail), 0):]
	}
	return io.NopCloser(strings.NewReader(strings.Join(lines, "\n") + "\n")), nil
}
