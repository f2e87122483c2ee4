package parity

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/migration"
)

// kubectl spark migrate check compares drivers of the other operators with Firesteel's. What real spark-submit made differs in nothing for it,
// unless it differs for the comparison of this package, too.
func TestDriversOfSparkSubmitAreTheSameForAMigration(t *testing.T) {
	version := Versions[len(Versions)-1] // the Pods of the others have the same fields
	recordings, err := Load(version)
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, c := range Cases(version) {
		if strings.Contains(c.Name, "local-dirs") || strings.HasPrefix(c.Name, "spark.local.dir") {
			continue // a recording has several local directories in another order
		}
		recorded, err := recordings.Of(c)
		if err != nil {
			t.Fatal(err)
		}
		if recorded.RefusedBy != "" {
			continue
		}
		if sameDriver(t, c, recorded.Apache(c).Fields, builtInApache(t, c, version)) {
			compared[Apache]++
		}
		if c.InKubeflow() && sameDriver(t, c, recorded.Kubeflow(c, "1").Fields, builtInKubeflow(t, c, version)) {
			compared[Kubeflow]++
		}
	}
	if compared[Apache] < 100 || compared[Kubeflow] < 100 {
		t.Errorf("only %v drivers were compared", compared)
	}
}

// builtInApache returns what Firesteel makes of a case in the Apache operator's API; nothing if it is refused.
func builtInApache(t *testing.T, c Case, version string) []Object {
	t.Helper()
	manifest, err := c.Manifest(version, c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	app, err := Decode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	built, refusal := c.BuildApache(app)
	if refusal != nil {
		return nil
	}
	return built
}

// builtInKubeflow is builtInApache for the Kubeflow operator's API.
func builtInKubeflow(t *testing.T, c Case, version string) []Object {
	t.Helper()
	manifest, err := c.KubeflowManifest(version, c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	app, err := DecodeKubeflow(manifest)
	if err != nil {
		t.Fatal(err)
	}
	built, refusal := c.BuildKubeflow(app)
	if refusal != nil {
		return nil
	}
	return built
}

// sameDriver compares the driver of a recording with Firesteel's. It returns false if there is none to compare.
func sameDriver(t *testing.T, c Case, theirs Fields, built []Object) bool {
	t.Helper()
	if built == nil {
		return false
	}
	ours := podOf(t, podAmong(built)) // Normal changes the objects
	if differsInPod(theirs, Normal(built)) {
		return false
	}
	differences, err := migration.CompareDrivers(podOf(t, unflatten(theirs, "Pod/")), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences {
		t.Errorf("%s: %s: %s, with Firesteel %s", c.Name, d.Field, d.Theirs, d.Ours)
	}
	return true
}

func podAmong(objects []Object) Object {
	for _, object := range objects {
		if object["kind"] == "Pod" {
			return object
		}
	}
	return nil
}

func podOf(t *testing.T, object Object) *corev1.Pod {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(encoded, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func differsInPod(a, b Fields) bool {
	for _, d := range Differences(a, b) {
		if strings.HasPrefix(d.Field, "Pod/") {
			return true
		}
	}
	return false
}

// unflatten returns the object whose fields have a prefix.
func unflatten(fields Fields, prefix string) Object {
	var root any = Object{}
	for field, value := range fields {
		if path, ok := strings.CutPrefix(field, prefix); ok {
			root = insert(root, strings.Split(path, "/"), value)
		}
	}
	return root.(Object)
}

// insert sets a value at a path of fields and of indexes.
func insert(into any, path []string, value any) any {
	if len(path) == 0 {
		if value == "{}" {
			return Object{}
		}
		return value
	}
	if index, err := strconv.Atoi(path[0]); err == nil {
		list, _ := into.([]any)
		for len(list) <= index {
			list = append(list, nil)
		}
		list[index] = insert(list[index], path[1:], value)
		return list
	}
	object, ok := into.(Object)
	if !ok {
		object = Object{}
	}
	key, rest := path[0], path[1:]
	if len(rest) > 1 && slices.Contains([]string{"labels", "annotations", "nodeSelector", "matchLabels", "limits", "requests"}, key) {
		rest = []string{strings.Join(rest, "/")} // such a key may hold a slash
	}
	object[key] = insert(object[key], rest, value)
	return object
}
