package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

const apacheApplications = "sparkapplications.spark.apache.org"

// raw returns an object as the API server has it, with fields that this version does not know.
func (s *env) raw(resource, name string) *unstructured.Unstructured {
	s.Helper()
	object, err := s.objects(resource).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return object
}

// at is a field of an object's record; nil if there is none.
func at(object *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, append([]string{"status", "firesteel"}, path...)...)
	return value
}

// patchRecord has another writer change the record. It is a JSON patch, with paths within the record.
func (s *env) patchRecord(resource, name string, operations ...string) {
	s.Helper()
	patch := strings.ReplaceAll("["+strings.Join(operations, ",")+"]", `"path":"`, `"path":"/status/firesteel`)
	_, err := s.objects(resource).Patch(s.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}, "status")
	s.must(err)
}

// untilRecord waits until a record is as it should be.
func (s *env) untilRecord(resource, name, what string, holds func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	s.Helper()
	var object *unstructured.Unstructured
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		object = s.raw(resource, name)
		return holds(object), nil
	})
	if err != nil {
		s.Fatalf("waited for %s to %s; it is\n%s", name, what, described(object.Object["status"]))
	}
	return object
}

// wantUntouched compares the whole status: conditions are not written either.
func (s *env) wantUntouched(resource string, before *unstructured.Unstructured) {
	s.Helper()
	after := s.raw(resource, before.GetName())
	if diff := cmp.Diff(before.Object["status"], after.Object["status"]); diff != "" {
		s.Errorf("the status was written (-was +is):\n%s", diff)
	}
}

// runNeighbour runs another application to its end and deletes it.
func (s *env) runNeighbour() {
	s.Helper()
	s.create(App("neighbour"))
	s.run("neighbour", 0).succeed()
	s.untilState("neighbour", "ResourceReleased")
	s.delete("neighbour")
	untilGone(s, s.apps(), "neighbour")
}

// ofBothKinds tests applications of both kinds that run.
func ofBothKinds(t *testing.T, test func(s *env, resource, name string, d *driver)) {
	t.Helper()
	t.Parallel()
	t.Run("Apache", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, 0))
		test(s, apacheApplications, "pi", s.run("pi", 0))
	})
	t.Run("Kubeflow", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 1}"))
		test(s, kubeflowApplications, "spark-pi", s.runPi())
	})
}

func TestRecordOfANewerFormatIsLeftAlone(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		s.patchRecord(resource, name, `{"op":"add","path":"/format","value":2}`, `{"op":"add","path":"/newer","value":{"deep":[1,"b"]}}`,
			`{"op":"add","path":"/transitions/0/newer","value":true}`)
		event := s.untilKubeEvent(name, corev1.EventTypeWarning, "RecordNotUnderstood")
		for _, part := range []string{"status.firesteel.format is 2", "formats up to 1", "Upgrade Firesteel"} {
			if !strings.Contains(event.Message, part) {
				s.Errorf("the Event does not say %q: %s", part, event.Message)
			}
		}
		before := s.raw(resource, name)
		s.patched(resource, name, `{"spec":{"sparkConf":{"spark.a":"b"}}}`)
		s.runNeighbour()
		d.exit(1)
		s.runNeighbour()
		s.wantUntouched(resource, before)
		if pod := s.pod(d.Name); pod.UID != d.UID || pod.DeletionTimestamp != nil {
			s.Errorf("the driver is not left alone: %+v", pod.ObjectMeta)
		}

		_, err := s.kubectl("", "delete", resource, name, "--wait=false")
		s.must(err)
		untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
		s.runNeighbour()
		s.wantUntouched(resource, before) // the version that wrote it may come to conclude it
		s.patchRecord(resource, name, `{"op":"remove","path":"/format"}`)
		_, err = s.kubectl("", "wait", "--for=delete", resource+"/"+name, "--timeout=120s")
		s.must(err)
	})
}

// notDecodable are edits after which an object cannot be decoded any more.
var notDecodable = map[string]string{
	apacheApplications:   `{"spec":{"driverSpec":{"podTemplateSpec":{"spec":{"containers":"oops"}}}}}`,
	kubeflowApplications: `{"spec":{"driver":{"template":{"spec":{"containers":"oops"}}}}}`,
	sparkClusters:        `{"spec":{"masterSpec":{"statefulSetSpec":{"template":{"spec":{"containers":5}}}}}}`,
}

func (s *env) makeUndecodable(resource, name string) {
	s.Helper()
	s.patched(resource, name, notDecodable[resource])
}

// Neither version can act on such an object. Only the one that wrote the record may touch it.
func TestRecordOfANewerFormatInAnUndecodableObjectIsLeftAlone(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		s.patchRecord(resource, name, `{"op":"add","path":"/format","value":2}`, `{"op":"add","path":"/newer","value":{"deep":[1,"b"]}}`)
		s.untilKubeEvent(name, corev1.EventTypeWarning, "RecordNotUnderstood")
		before := s.raw(resource, name)
		s.makeUndecodable(resource, name)
		s.runNeighbour()
		s.runNeighbour()
		s.wantUntouched(resource, before)
		if pod := s.pod(d.Name); pod.UID != d.UID || pod.DeletionTimestamp != nil {
			s.Errorf("the driver is not left alone: %+v", pod.ObjectMeta)
		}
		_, err := s.kubectl("", "delete", resource, name, "--wait=false")
		s.must(err)
		untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
		s.runNeighbour()
		s.wantUntouched(resource, before)
		s.patchRecord(resource, name, `{"op":"remove","path":"/format"}`)
		_, err = s.kubectl("", "wait", "--for=delete", resource+"/"+name, "--timeout=120s")
		s.must(err)
	})
}

// The driver of an undecodable object lives until the object is deleted. Then it is found by its record: another client removed
// its labels and its owner reference.
func TestDeletionOfAnUndecodableApplicationStopsTheDriverOfItsRecord(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		s.makeUndecodable(resource, name)
		s.untilKubeEvent(name, corev1.EventTypeWarning, "Undecodable")
		s.relabel(d.Name, `{"labels":null,"ownerReferences":null}`)
		s.runNeighbour()
		if pod := s.pod(d.Name); pod.UID != d.UID || pod.DeletionTimestamp != nil {
			s.Errorf("the driver is not left alone: %+v", pod.ObjectMeta)
		}
		s.kubelet.Pause(s.ns)
		_, err := s.kubectl("", "delete", resource, name, "--wait=false", "--cascade=orphan")
		s.must(err)
		s.untilTerminating(d.Name)
		if held := s.raw(resource, name).GetFinalizers(); len(held) == 0 {
			s.Error("nothing holds the application while its driver exists")
		}
		s.deletePodNow(d.Name)
		_, err = s.kubectl("", "wait", "--for=delete", resource+"/"+name, "--timeout=120s")
		s.must(err)
	})
}

func TestRecordWithAStateOfANewerVersionIsLeftAlone(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		transitions := at(s.raw(resource, name), "transitions").([]any)
		s.patchRecord(resource, name, fmt.Sprintf(`{"op":"replace","path":"/transitions/%d/state","value":"Dreaming"}`, len(transitions)-1))
		if event := s.untilKubeEvent(name, corev1.EventTypeWarning, "RecordNotUnderstood"); !strings.Contains(event.Message, `"Dreaming"`) {
			s.Errorf("the Event says %s", event.Message)
		}
		before := s.raw(resource, name)
		d.exit(1)
		s.runNeighbour()
		s.wantUntouched(resource, before)
		if pod := s.pod(d.Name); pod.UID != d.UID || pod.DeletionTimestamp != nil {
			s.Errorf("the driver is not left alone: %+v", pod.ObjectMeta)
		}
		_, err := s.kubectl("", "delete", resource, name, "--timeout=120s")
		s.must(err)
		untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	})
}

// Unknown fields survive each write of the controller and of the restart handler, also in the next attempt.
func TestRecordKeepsUnknownFieldsUntilTheEnd(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		transitions := at(s.raw(resource, name), "transitions").([]any)
		last := len(transitions) - 1
		s.patchRecord(resource, name, `{"op":"add","path":"/newer","value":{"deep":[1,{"b":null}]}}`,
			`{"op":"add","path":"/attempt/newer","value":"a"}`, `{"op":"add","path":"/attempt/spec/newer","value":"b"}`,
			`{"op":"add","path":"/launch/newer","value":"c"}`, fmt.Sprintf(`{"op":"add","path":"/transitions/%d/newer","value":"d"}`, last),
			`{"op":"add","path":"/verdict","value":{"attempt":-1,"restart":true,"newer":"e"}}`)
		executor := (*driver)(nil)
		if resource == kubeflowApplications {
			executor = d.kubeflowExecutor(1).start()
			s.untilRecord(resource, name, "show its executor", func(o *unstructured.Unstructured) bool {
				states, _, _ := unstructured.NestedMap(o.Object, "status", "executorState")
				return states[executor.Name] != nil
			})
		}
		if got := at(s.raw(resource, name), "launch", "newer"); got != "c" {
			s.Errorf("of the launch is left %v", got)
		}
		d.exit(1)
		next := s.untilRecord(resource, name, "be launched again", func(o *unstructured.Unstructured) bool {
			uid, _ := at(o, "launch", "driverUID").(string)
			return uid != "" && uid != string(d.UID)
		})
		for path, want := range map[string]any{
			"newer": map[string]any{"deep": []any{int64(1), map[string]any{"b": nil}}}, "attempt newer": "a", "attempt spec newer": "b",
			"previous newer": "a", "previous spec newer": "b", "verdict newer": "e", "verdict attempt": int64(0),
		} {
			if diff := cmp.Diff(want, at(next, strings.Fields(path)...)); diff != "" {
				s.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
		if got := at(next, "transitions").([]any)[last].(map[string]any)["newer"]; got != "d" {
			s.Errorf("of the transition is left %v", got)
		}
		again := &driver{Pod: s.pod(at(next, "launch", "driverPod").(string)), env: s}
		again.start().ready().succeed()
		over := s.untilRecord(resource, name, "end", func(o *unstructured.Unstructured) bool {
			all := at(o, "transitions").([]any)
			return all[len(all)-1].(map[string]any)["outcome"] == "Succeeded"
		})
		if diff := cmp.Diff(at(next, "newer"), at(over, "newer")); diff != "" || at(over, "attempt", "newer") != "a" {
			s.Errorf("at the end the attempt has %v; the record (-want +got):\n%s", at(over, "attempt", "newer"), diff)
		}
	})
}

func TestRecordKeepsUnknownFieldsAfterSuspensionAndEdit(t *testing.T) {
	t.Parallel()
	const name = "spark-pi"
	s := newEnv(t).sharesController()
	s.kubeflowApplication(sparkPi("4.1.1"))
	launched := s.runPi()
	s.patchRecord(kubeflowApplications, name, `{"op":"add","path":"/newer","value":[1]}`, `{"op":"add","path":"/attempt/newer","value":"a"}`,
		`{"op":"add","path":"/attempt/spec/newer","value":"b"}`, `{"op":"add","path":"/launch/newer","value":"c"}`)
	anew := func(attempt int64, patch string) {
		t.Helper()
		s.patched(kubeflowApplications, name, patch)
		next := s.untilRecord(kubeflowApplications, name, "be launched again", func(o *unstructured.Unstructured) bool {
			uid, _ := at(o, "launch", "driverUID").(string)
			return uid != "" && at(o, "attempt", "id") == attempt
		})
		if diff := cmp.Diff([]any{int64(1)}, at(next, "newer")); diff != "" || at(next, "attempt", "newer") != "a" || at(next, "attempt", "spec", "newer") != "b" {
			t.Errorf("attempt %d has lost fields:\n%s", attempt, described(at(next)))
		}
		if got := at(next, "launch", "newer"); got != nil {
			t.Errorf("the launch of attempt %d has another's %v", attempt, got)
		}
	}
	suspend := `{"spec":{"suspend":true}}`
	s.patched(kubeflowApplications, name, suspend)
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), launched.Name)
	suspended := s.untilRecord(kubeflowApplications, name, "be suspended", func(o *unstructured.Unstructured) bool {
		all := at(o, "transitions").([]any)
		return all[len(all)-1].(map[string]any)["state"] == "Suspended"
	})
	if got := at(suspended, "launch", "newer"); got != "c" {
		t.Errorf("of the launch is left %v", got)
	}
	anew(1, `{"spec":{"suspend":false}}`)
	anew(2, `{"spec":{"arguments":["7"]}}`)
}

// A handler that writes verdicts must not fill the record.
func TestRecordBoundsUnknownFields(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		s.patchRecord(resource, name, fmt.Sprintf(`{"op":"add","path":"/verdict","value":{"attempt":-1,"restart":true,"newer":%q}}`,
			strings.Repeat("x", 60<<10)), `{"op":"add","path":"/newer","value":"kept"}`)
		d.succeed()
		over := s.untilRecord(resource, name, "end", func(o *unstructured.Unstructured) bool {
			all := at(o, "transitions").([]any)
			return all[len(all)-1].(map[string]any)["outcome"] == "Succeeded"
		})
		if at(over, "newer") != "kept" || at(over, "verdict", "newer") != nil {
			text, _ := json.Marshal(at(over))
			s.Errorf("the record takes %d bytes: %.500s", len(text), text)
		}
	})
}

// Another version of Firesteel, a newer library or a new default of the schema has hashed the spec otherwise.
func TestEditAloneRunsAnApplicationAgain(t *testing.T) {
	t.Parallel()
	const name = "spark-pi"
	s := newEnv(t).sharesController()
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.runPi().succeed()
	done := s.untilShown(name, v1beta2.CompletedState)
	noted := spec.Noted(done.Status.Firesteel)
	if noted.Hash == "" || noted.HashVersion != spec.HashVersion || noted.Generation != done.Generation || done.Status.Firesteel.Attempt.SpecHash != "" {
		t.Fatalf("the attempt is of %+v", done.Status.Firesteel.Attempt)
	}
	edit := func(patch string) {
		t.Helper()
		s.patched(kubeflowApplications, name, patch)
	}
	stays := func(what string) {
		t.Helper()
		s.runNeighbour()
		if app, err := s.kubeflowApps().Get(t.Context(), name, metav1.GetOptions{}); err != nil ||
			app.Status.AppState.State != v1beta2.CompletedState || app.Status.ExecutionAttempts != 1 {
			t.Fatalf("%s: it is not left as it was: %v\n%s", what, err, described(app))
		}
	}
	noting := func(hash string, version, generation int64) string {
		return fmt.Sprintf(`{"op":"add","path":"/attempt/spec","value":{"hash":%q,"hashVersion":%d,"generation":%d}}`, hash, version, generation)
	}
	s.patchRecord(kubeflowApplications, name, noting("of another", spec.HashVersion, done.Generation))
	stays("another hash")
	s.patchRecord(kubeflowApplications, name, noting("of another", 99, done.Generation))
	stays("another version")
	s.patchRecord(kubeflowApplications, name, `{"op":"remove","path":"/attempt/spec"}`, `{"op":"add","path":"/attempt/specHash","value":"of an earlier"}`)
	stays("an earlier version")
	for _, version := range []int64{spec.HashVersionJSON, spec.HashVersion} {
		s.patchRecord(kubeflowApplications, name, noting("of another library", version, s.generation(name)))
		edit(fmt.Sprintf(`{"spec":{"timeToLiveSeconds":%d}}`, 1800+version))
		stays("an edit of what does not matter, of a hash that no version makes any more")
	}
	s.patchRecord(kubeflowApplications, name, `{"op":"remove","path":"/attempt/spec"}`, `{"op":"add","path":"/attempt/specHash","value":"of an earlier"}`)
	edit(`{"spec":{"timeToLiveSeconds":2000}}`)
	stays("an edit of what does not matter, of an earlier version's hash that no version makes any more")
	until(s, s.kubeflowApps(), name, "have noted its edited spec", func(app *v1beta2.SparkApplication) bool {
		return spec.Noted(app.Status.Firesteel).Generation == app.Generation
	})
	s.patchRecord(kubeflowApplications, name, `{"op":"remove","path":"/attempt/spec"}`, `{"op":"add","path":"/attempt/specHash","value":"of an earlier"}`)
	s.patchRecord(kubeflowApplications, name, `{"op":"add","path":"/attempt/specHash","value":"`+hashJSON(s, name)+`"}`)
	edit(`{"spec":{"timeToLiveSeconds":3600}}`)
	stays("an edit of what does not matter, of an earlier version's")
	s.patchRecord(kubeflowApplications, name, noting("of another", 99, 1))
	edit(`{"spec":{"timeToLiveSeconds":7200}}`)
	s.untilKubeEvent(name, corev1.EventTypeWarning, "SpecAdopted")
	stays("an edit that the hash cannot show")
	edit(`{"spec":{"arguments":["7"]}}`)
	again := until(s, s.kubeflowApps(), name, "run anew", func(app *v1beta2.SparkApplication) bool {
		return app.Status.AppState.State == v1beta2.SubmittedState
	})
	if got := spec.Noted(again.Status.Firesteel); got.Generation != again.Generation || got.Hash == noted.Hash {
		t.Errorf("the attempt is of %+v", got)
	}
}

func (s *env) generation(name string) int64 {
	s.Helper()
	app, err := s.kubeflowApps().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return app.Generation
}

func hashJSON(s *env, name string) string {
	s.Helper()
	app, err := s.kubeflowApps().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	hash, err := spec.HashJSON(app.Spec)
	s.must(err)
	return hash
}

const sparkClusters = "sparkclusters.spark.apache.org"

func TestRecordOfAClusterKeepsUnknownFields(t *testing.T) {
	t.Parallel()
	s, m, _ := runningCluster(t, Cluster("c"))
	s.patchRecord(sparkClusters, "c", `{"op":"add","path":"/newer","value":[1]}`, `{"op":"add","path":"/attempt/newer","value":"a"}`,
		`{"op":"add","path":"/transitions/0/newer","value":"b"}`)
	m.has(0)
	degraded := s.untilRecord(sparkClusters, "c", "degrade", func(o *unstructured.Unstructured) bool {
		all := at(o, "transitions").([]any)
		return all[len(all)-1].(map[string]any)["state"] == "Degraded"
	})
	m.has(2)
	first := at(degraded, "transitions").([]any)[0].(map[string]any)
	if diff := cmp.Diff([]any{int64(1)}, at(degraded, "newer")); diff != "" || at(degraded, "attempt", "newer") != "a" || first["newer"] != "b" {
		t.Errorf("the record is\n%s", described(at(degraded)))
	}
	s.untilRecord(sparkClusters, "c", "recover", func(o *unstructured.Unstructured) bool {
		all := at(o, "transitions").([]any)
		return all[len(all)-1].(map[string]any)["state"] == "RunningHealthy"
	})

	s.patchRecord(sparkClusters, "c", `{"op":"add","path":"/format","value":2}`)
	s.untilKubeEvent("c", corev1.EventTypeWarning, "RecordNotUnderstood")
	before, worker := s.raw(sparkClusters, "c"), s.statefulSet("c-worker")
	s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.a", "b") })
	s.runNeighbour()
	s.wantUntouched(sparkClusters, before)
	if is := s.statefulSet("c-worker"); is.UID != worker.UID || is.Generation != worker.Generation {
		t.Error("the workers are rolled out")
	}
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
	s.untilOwned()
	s.wantUntouched(sparkClusters, before)
	s.patchRecord(sparkClusters, "c", `{"op":"remove","path":"/format"}`)
	untilGone(s, s.clusters(), "c")
}

func TestRecordOfANewerFormatInAnUndecodableClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	s, _, _ := runningCluster(t, Cluster("c"))
	s.patchRecord(sparkClusters, "c", `{"op":"add","path":"/format","value":2}`)
	s.untilKubeEvent("c", corev1.EventTypeWarning, "RecordNotUnderstood")
	before, owned := s.raw(sparkClusters, "c"), s.owned()
	s.makeUndecodable(sparkClusters, "c")
	s.runNeighbour()
	s.runNeighbour()
	s.wantUntouched(sparkClusters, before)
	s.untilOwned(owned...)
	s.patchRecord(sparkClusters, "c", `{"op":"remove","path":"/format"}`)
	s.patched(sparkClusters, "c", `{"spec":{"sparkConf":{"spark.a":"b"}}}`)
	s.untilKubeEvent("c", corev1.EventTypeWarning, "Undecodable")
	s.untilOwned(owned...)
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
	s.untilOwned()
	untilGone(s, s.clusters(), "c")
}

// Another version of Firesteel builds other StatefulSets from the same spec. Only an edit rolls out an existing one.
func TestClusterIsNotRolledOutByAnUpgrade(t *testing.T) {
	t.Parallel()
	s, _, _ := runningCluster(t, Cluster("c"))
	was := s.statefulSet("c-worker")
	made := strings.TrimSuffix(was.Annotations["firesteel.dev/made-of"], was.Annotations["firesteel.dev/spec-hash"])
	patch := `{"metadata":{"annotations":{"firesteel.dev/spec-hash":"other","firesteel.dev/made-of":"` + made + `other"}},` +
		`"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`
	_, err := s.kubectl("", "patch", "statefulset", "c-worker", "--type=merge", "--patch", patch)
	s.must(err)
	s.runNeighbour()
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.InitWorkers = 3 })
	scaled := s.untilSet("c-worker", "be scaled", func(set *appsv1.StatefulSet) bool { return *set.Spec.Replicas == 3 })
	if *scaled.Spec.Template.Spec.TerminationGracePeriodSeconds != 7 {
		t.Error("the workers are rolled out since they are built otherwise")
	}
	s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.a", "b") })
	s.untilSet("c-worker", "be rolled out", func(set *appsv1.StatefulSet) bool {
		return *set.Spec.Template.Spec.TerminationGracePeriodSeconds != 7
	})
}

func TestRecordOfAScheduleKeepsUnknownFields(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 2s", nil)
		runs := pi.untilRuns(1)
		pi.until("record it", func(s *v1alpha1.ScheduleStatus) bool { return s.LastRunName >= runs[0].GetName() })
		resource := k.String()
		s.patchRecord(resource, "pi", `{"op":"add","path":"/newer","value":{"a":[1]}}`)
		pi.untilRuns(3)
		if diff := cmp.Diff(map[string]any{"a": []any{int64(1)}}, at(s.raw(resource, "pi"), "newer")); diff != "" {
			t.Errorf("after more runs (-want +got):\n%s", diff)
		}
		s.patchRecord(resource, "pi", `{"op":"add","path":"/format","value":7}`)
		s.untilKubeEvent("pi", corev1.EventTypeWarning, "RecordNotUnderstood")
		before, count := s.raw(resource, "pi"), len(pi.runs())
		s.runNeighbour()
		s.runNeighbour()
		s.wantUntouched(resource, before)
		if got := len(pi.runs()); got != count {
			t.Errorf("%d runs were started", got-count)
		}
		s.patchRecord(resource, "pi", `{"op":"remove","path":"/format"}`)
		pi.untilRuns(count + 1)
	})
}
