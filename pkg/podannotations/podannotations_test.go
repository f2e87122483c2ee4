package podannotations_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/podannotations"
)

const early, later = "spark-operator.k8s.io/", "sparkoperator.k8s.io/"

// driver returns a driver Pod as spark-submit creates it, with annotations.
func driver(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", Labels: map[string]string{"spark-role": "driver"}, Annotations: annotations},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:         "spark-kubernetes-driver",
				Env:          []corev1.EnvVar{{Name: "SPARK_CONF_DIR", Value: "/opt/spark/conf"}},
				VolumeMounts: []corev1.VolumeMount{{Name: "spark-conf-volume-driver", MountPath: "/opt/spark/conf"}},
			}},
			Volumes: []corev1.Volume{{Name: "spark-conf-volume-driver"}},
		},
	}
}

// executor returns an executor with a sidecar before Spark's container.
func executor(annotations map[string]string) *corev1.Pod {
	pod := driver(annotations)
	pod.Labels["spark-role"] = "executor"
	pod.Spec.Containers[0].Name = "spark-kubernetes-executor"
	pod.Spec.Containers = append([]corev1.Container{{Name: "sidecar"}}, pod.Spec.Containers...)
	controller := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "pi-driver", UID: "d", Controller: &controller}}
	return pod
}

// apply applies annotations that are not refused, twice: the second time nothing may change.
func apply(t *testing.T, pod *corev1.Pod) (*corev1.Pod, string) {
	t.Helper()
	before := pod.DeepCopy()
	changed, warnings, err := podannotations.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("the given Pod was changed: %s", diff)
	}
	again, _, err := podannotations.Apply(withDefaults(changed))
	if err != nil {
		t.Fatalf("a second time: %v", err)
	}
	if diff := cmp.Diff(withDefaults(changed), again); diff != "" {
		t.Errorf("a second time the Pod is changed: %s", diff)
	}
	return changed, warnings.String()
}

// withDefaults returns a Pod with what the API server adds.
func withDefaults(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	mode := int32(0o644)
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.ConfigMap != nil:
			v.ConfigMap.DefaultMode = &mode
		case v.Secret != nil:
			v.Secret.DefaultMode = &mode
		}
	}
	return pod
}

// mounts returns what the containers mount: path, and the source of the volume.
func mounts(pod *corev1.Pod, container string) map[string]string {
	found := map[string]string{}
	for _, c := range pod.Spec.Containers {
		for _, mount := range c.VolumeMounts {
			for _, v := range pod.Spec.Volumes {
				switch {
				case c.Name != container || v.Name != mount.Name:
				case v.ConfigMap != nil && mount.ReadOnly:
					found[mount.MountPath] = v.Name + " of config map " + v.ConfigMap.Name
				case v.Secret != nil && mount.ReadOnly:
					found[mount.MountPath] = v.Name + " of secret " + v.Secret.SecretName
				case v.EmptyDir != nil:
					found[mount.MountPath] = v.Name + " of nothing"
				}
			}
		}
	}
	return found
}

func env(pod *corev1.Pod, name string) (values []string) {
	for _, container := range pod.Spec.Containers {
		for _, variable := range container.Env {
			if variable.Name == name {
				values = append(values, variable.Value)
			}
		}
	}
	return values
}

func TestEachSpellingMountsTheConfigurationFiles(t *testing.T) {
	for _, prefix := range []string{early, later} {
		for key, want := range map[string][3]string{
			"sparkConfigMap":   {"/etc/spark/conf", "SPARK_CONF_DIR", "spark-configmap-volume of config map c"},
			"spark-configmap":  {"/etc/spark/conf", "SPARK_CONF_DIR", "spark-configmap-volume of config map c"},
			"hadoopConfigMap":  {"/etc/hadoop/conf", "HADOOP_CONF_DIR", "hadoop-configmap-volume of config map c"},
			"hadoop-configmap": {"/etc/hadoop/conf", "HADOOP_CONF_DIR", "hadoop-configmap-volume of config map c"},
		} {
			pod, warnings := apply(t, driver(map[string]string{prefix + key: "c"}))
			if diff := cmp.Diff(map[string]string{want[0]: want[2]}, mounts(pod, "spark-kubernetes-driver")); diff != "" || warnings != "" {
				t.Errorf("%s%s: %s %s", prefix, key, diff, warnings)
			}
			// The last variable with a name counts.
			if values := env(pod, want[1]); len(values) == 0 || values[len(values)-1] != want[0] {
				t.Errorf("%s%s: %s is %q", prefix, key, want[1], values)
			}
		}
	}
}

func TestSparksContainerGetsTheMounts(t *testing.T) {
	annotations := map[string]string{later + "configmap.tuning": "/etc/t", early + "configMap.more": "/etc/m/", early + "secret.s": "/etc/s"}
	want := map[string]string{
		"/etc/t": "tuning-vol of config map tuning", "/etc/m": "more-vol of config map more", "/etc/s": "s-volume of secret s",
	}
	ofTemplate := executor(annotations)
	ofTemplate.Spec.Containers[1].Name, ofTemplate.Spec.Containers[1].Env = "main", []corev1.EnvVar{{Name: "SPARK_APPLICATION_ID"}}
	for container, pod := range map[string]*corev1.Pod{"spark-kubernetes-executor": executor(annotations), "main": ofTemplate} {
		changed, _ := apply(t, pod)
		if diff := cmp.Diff(want, mounts(changed, container)); diff != "" {
			t.Errorf("%s: %s", container, diff)
		}
		if got := mounts(changed, "sidecar"); len(got) > 0 {
			t.Errorf("the sidecar has %v", got)
		}
	}
	unnamed := executor(annotations)
	unnamed.Spec.Containers[1].Name = "main"
	changed, _ := apply(t, unnamed)
	if diff := cmp.Diff(want, mounts(changed, "sidecar")); diff != "" {
		t.Errorf("no container is known as Spark's, and the first has not the mounts: %s", diff)
	}
}

func TestFirstServiceAccountHasTheVariable(t *testing.T) {
	pod, warnings := apply(t, driver(map[string]string{early + "GCPServiceAccount.k2": "/b", later + "GCPServiceAccount.k1": "/a"}))
	want := map[string]string{"/a": "k1-volume of secret k1", "/b": "k2-volume of secret k2"}
	if diff := cmp.Diff(want, mounts(pod, "spark-kubernetes-driver")); diff != "" {
		t.Error(diff)
	}
	if values := env(pod, "GOOGLE_APPLICATION_CREDENTIALS"); !slices.Equal(values, []string{"/a/key.json"}) {
		t.Errorf("the variable is %q", values)
	}
	if !strings.Contains(warnings, early+"GCPServiceAccount.k2") || strings.Contains(warnings, later+"GCPServiceAccount.k1]") {
		t.Errorf("the warnings are %q", warnings)
	}
}

func encoded(t *testing.T, object interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	data, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(data)
}

func TestValuesAreJSONOrProtobuf(t *testing.T) {
	owner := &metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "run", UID: "u"}
	size := resource.MustParse("1Gi")
	emptyDir := &corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}}}
	mount := &corev1.VolumeMount{Name: "data", MountPath: "/data"}
	selector := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}},
	}}}
	affinity := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}
	toleration := &corev1.Toleration{Key: "spark", Operator: corev1.TolerationOpExists}
	json := map[string]string{
		"ownerReference": `{"apiVersion":"v1","kind":"ConfigMap","name":"run","uid":"u"}`,
		"volumes.d":      `{"name":"data","emptyDir":{"sizeLimit":"1024Mi"}}`, "volumemounts.d": `{"name":"data","mountPath":"/data"}`,
		"affinity":                `{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}}}`,
		"tolerations.toleration0": ` {"key":"spark","operator":"Exists"}`,
	}
	protobuf := map[string]string{
		"ownerreference": encoded(t, owner), "volumes.d": encoded(t, emptyDir), "volumemounts.d": encoded(t, mount), "affinity": encoded(t, affinity),
		"tolerations.toleration0": encoded(t, toleration),
	}
	for _, prefix := range []string{early, later} {
		var results []*corev1.Pod
		for _, values := range []map[string]string{json, protobuf} {
			annotations := map[string]string{}
			for key, value := range values {
				annotations[prefix+key] = value
			}
			pod, warnings := apply(t, driver(annotations))
			if warnings != "" {
				t.Error(warnings)
			}
			pod.Annotations = nil
			results = append(results, pod)
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" {
			t.Errorf("JSON and protobuf differ: %s", diff)
		}
		want := driver(nil)
		want.OwnerReferences = []metav1.OwnerReference{*owner}
		want.Spec.Volumes = append(want.Spec.Volumes, *emptyDir)
		want.Spec.Containers[0].VolumeMounts = append(want.Spec.Containers[0].VolumeMounts, *mount)
		want.Spec.Affinity, want.Spec.Tolerations = affinity, []corev1.Toleration{*toleration}
		if diff := cmp.Diff(want, results[0]); diff != "" {
			t.Errorf("(-want +got): %s", diff)
		}
	}
}

func TestRefusalsNameTheKeyAndWhatToWrite(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"neither JSON nor base64": {map[string]string{early + "ownerReference": "x"}, "metadata.annotations[spark-operator.k8s.io/ownerReference]"},
		"what to write instead":   {map[string]string{early + "ownerReference": "x"}, `write it as JSON, such as {"apiVersion":"v1"`},
		"a misspelt field":        {map[string]string{early + "ownerReference": `{"apiversion":"v1"}`}, `unknown field "apiversion"`},
		"an incomplete owner":     {map[string]string{later + "ownerreference": `{"apiVersion":"v1","kind":"A"}`}, "it has no name, uid"},
		"random bytes":            {map[string]string{later + "affinity": "AAAA"}, "[sparkoperator.k8s.io/affinity]"},
		"an empty value":          {map[string]string{later + "affinity": ""}, "nodeAffinity"},
		"no toleration":           {map[string]string{later + "tolerations.a": "{}"}, "tolerations.a"},
		"a volume of nothing":     {map[string]string{later + "volumes.a": `{"name":"a"}`, later + "volumemounts.a": `{"name":"a","mountPath":"/a"}`}, "it has no source"},
		"another volume mounted":  {map[string]string{later + "volumes.a": `{"name":"a","emptyDir":{}}`, later + "volumemounts.a": `{"name":"b","mountPath":"/a"}`}, "volumemounts.a"},
		"a huge quantity":         {map[string]string{later + "volumes.a": `{"name":"a","emptyDir":{"sizeLimit":"1e9999999"}}`, later + "volumemounts.a": `{"name":"a","mountPath":"/a"}`}, "exponent"},
		"no name of a ConfigMap":  {map[string]string{later + "sparkConfigMap": "A b"}, `[sparkoperator.k8s.io/sparkConfigMap] "A b" is no name of a ConfigMap`},
		"an empty name":           {map[string]string{later + "sparkConfigMap": ""}, "write the name of a ConfigMap"},
		"no name in the key":      {map[string]string{later + "secret.A": "/a"}, "end the key with the name of a Secret"},
		"a relative path":         {map[string]string{later + "configmap.a": "etc"}, "write an absolute path without a colon, such as /etc/a"},
		"two paths":               {map[string]string{later + "configmap.a": "/a:/b"}, "write an absolute path"},
		"two spellings":           {map[string]string{early + "sparkConfigMap": "a", later + "spark-configmap": "b"}, "contradicts spark-operator.k8s.io/sparkConfigMap: remove one of them"},
		"a volume at its path in another way": {map[string]string{later + "volumes.a": `{"name":"a","emptyDir":{}}`, later + "volumemounts.a": `{"name":"a","mountPath":"/a"}`,
			later + "volumes.b": `{"name":"a","emptyDir":{}}`, later + "volumemounts.b": `{"name":"a","mountPath":"/a","subPath":"b"}`}, "mounts the volume in another way"},
		"one path for two":  {map[string]string{early + "configMap.a": "/c", early + "configMap.b": "/c"}, "where the volume a-vol is mounted"},
		"a path of Spark's": {map[string]string{early + "configMap.a": "/opt/spark/conf/"}, "where the volume spark-conf-volume-driver is mounted"},
		"too many":          {many(early+"configMap.c%d", "/c/%d", 257), "have 257 keys that change the Pod"},
		"too large":         {map[string]string{early + "affinity": strings.Repeat("x", 256<<10)}, "bytes, and may have"},
	} {
		t.Run(name, func(t *testing.T) {
			given := driver(test.annotations)
			pod, warnings, err := podannotations.Apply(given)
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 2048 {
				t.Errorf("the error is %v, want %s in it", err, test.want)
			}
			if diff := cmp.Diff(driver(test.annotations), pod); diff != "" || warnings != nil {
				t.Errorf("a refused Pod is changed: %s %v", diff, warnings)
			}
		})
	}
}

func many(key, value string, count int) map[string]string {
	annotations := map[string]string{}
	for i := range count {
		annotations[fmt.Sprintf(key, i)] = fmt.Sprintf(value, i)
	}
	return annotations
}

func TestHugeQuantityInProtobufIsRefusedUnread(t *testing.T) {
	// A field of EmptyDirVolumeSource: sizeLimit is a message with the text of the quantity.
	text := "1e99999999"
	quantity := append([]byte{10, byte(len(text))}, text...)
	emptyDir := append([]byte{18, byte(len(quantity))}, quantity...)
	source := append([]byte{18, byte(len(emptyDir))}, emptyDir...)
	data := slices.Concat([]byte{10, 1, 'a', 18, byte(len(source))}, source)
	annotations := map[string]string{
		later + "volumes.a": base64.StdEncoding.EncodeToString(data), later + "volumemounts.a": `{"name":"a","mountPath":"/a"}`,
	}
	if _, _, err := podannotations.Apply(driver(annotations)); err == nil || !strings.Contains(err.Error(), "large exponent") {
		t.Errorf("the error is %v", err)
	}
}

func TestMisspeltKeyGivesAWarningBesideAKnownOne(t *testing.T) {
	pod, warnings := apply(t, driver(map[string]string{early + "sparkConfigMap": "c", early + "sparkConfigmap": "d", "other.k8s.io/sparkConfigMap": "e"}))
	if got := mounts(pod, "spark-kubernetes-driver"); len(got) != 1 || !strings.Contains(warnings, early+"sparkConfigmap] is no key") || strings.Contains(warnings, "other") {
		t.Errorf("%v, %s", got, warnings)
	}
	alone := driver(map[string]string{early + "sparkConfigmap": "d", later + "app-name": "pi", later + "configMap.": "/a", later + "affinity.a": "x"})
	if pod, warnings, err := podannotations.Apply(alone); pod != alone || warnings != nil || err != nil {
		t.Errorf("a Pod without known annotations: %v, %v", warnings, err)
	}
}

func TestKeysHaveOneSpellingForWhatTheyAskFor(t *testing.T) {
	for key, want := range map[string]string{
		early + "configMap.a": "configMap.", later + "configmap.a.b": "configMap.", later + "spark-configmap": "sparkConfigMap", early + "affinity": "affinity",
		early + "configMap": "", early + "configMap.": "", early + "team": "", "other.k8s.io/sparkConfigMap": "", "sparkConfigMap": "",
	} {
		if got, ok := podannotations.AsksFor(key); ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s asks for %q (%t), want %q", key, got, ok, want)
		}
	}
}

func TestVolumeWithoutMountHasNoEffect(t *testing.T) {
	for key, value := range map[string]string{"volumes.d": `{"name":"d","emptyDir":{}}`, "volumemounts.d": `{"name":"d","mountPath":"/d"}`} {
		given := driver(map[string]string{early + key: value})
		pod, warnings := apply(t, given)
		if diff := cmp.Diff(given, pod); diff != "" || !strings.Contains(warnings, early+key+"] has no effect: add an annotation volume") {
			t.Errorf("%s: %s, %s", key, diff, warnings)
		}
	}
}

func TestOwnerOfAnExecutorIsNoSecondController(t *testing.T) {
	pod, warnings := apply(t, executor(map[string]string{early + "ownerReference": `{"apiVersion":"v1","kind":"ConfigMap","name":"run","uid":"u","controller":true}`}))
	if len(pod.OwnerReferences) != 2 || pod.OwnerReferences[1].Controller != nil || !strings.Contains(warnings, "since Pod pi-driver is the Pod's controller") {
		t.Errorf("%v, %s", pod.OwnerReferences, warnings)
	}
}

func TestForeignVolumeOfTheSameNameIsNotUsed(t *testing.T) {
	pod := driver(map[string]string{early + "configMap.tuning": "/etc/t"})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "tuning-vol", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	if _, _, err := podannotations.Apply(pod); err == nil || !strings.Contains(err.Error(), "needs the volume tuning-vol") {
		t.Errorf("the error is %v", err)
	}
	// Spark names the volume of a secret likewise, and can mount it elsewhere.
	same := driver(map[string]string{early + "secret.s": "/etc/s"})
	same.Spec.Volumes = append(same.Spec.Volumes, corev1.Volume{Name: "s-volume", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}})
	if pod, _ := apply(t, same); len(pod.Spec.Volumes) != 2 || len(mounts(pod, "spark-kubernetes-driver")) != 1 {
		t.Errorf("the volumes are %v", pod.Spec.Volumes)
	}
}

func TestAffinityOfTheAnnotationReplacesThatOfATemplate(t *testing.T) {
	given := driver(map[string]string{early + "affinity": `{"podAntiAffinity":{}}`})
	given.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	pod, warnings := apply(t, given)
	if pod.Spec.Affinity.NodeAffinity != nil || pod.Spec.Affinity.PodAntiAffinity == nil || !strings.Contains(warnings, "replaces the affinity") {
		t.Errorf("%v, %s", pod.Spec.Affinity, warnings)
	}
}

func TestVolumesHaveValidDistinctNames(t *testing.T) {
	long := strings.Repeat("l", 53)
	pod, _ := apply(t, driver(map[string]string{early + "configMap.a.b": "/1", early + "configMap.a-b": "/2", later + "configmap." + long: "/3", early + "secret." + long: "/4"}))
	seen := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		if problems := validation.IsDNS1123Label(v.Name); seen[v.Name] || len(problems) > 0 {
			t.Errorf("a volume is named %s: %v", v.Name, problems)
		}
		seen[v.Name] = true
	}
	if len(seen) != 5 {
		t.Errorf("the volumes are %v", seen)
	}
}

// Whatever is annotated, a Pod is refused and left as it was, or it is changed once: what it had stays, in its order, and only Spark's
// container gets mounts and variables.
func TestRandomAnnotations(t *testing.T) {
	values := []string{
		"", "x", "a", "b.c", "/a", "/a/", "/opt/spark/conf", "{", "{}", "AAAA", "null", "/a:b", `{"name":"a","emptyDir":{}}`, `{"name":"a","mountPath":"/a"}`,
		`{"apiVersion":"v1","kind":"A","name":"a","uid":"u","controller":true}`, `{"key":"a","operator":"Exists"}`, `{"podAffinity":{}}`,
	}
	keys := podannotations.Keys()
	rng := rand.New(rand.NewPCG(1, 2))
	applied, refused := 0, 0
	for range 5000 {
		annotations := map[string]string{}
		for range 1 + rng.IntN(4) {
			key := keys[rng.IntN(len(keys))]
			if strings.HasSuffix(key, ".") {
				key += []string{"a", "b.c", "B"}[rng.IntN(3)]
			}
			annotations[key] = values[rng.IntN(len(values))]
		}
		given := executor(annotations)
		pod, _, err := podannotations.Apply(given)
		if err != nil {
			refused++
			if diff := cmp.Diff(executor(annotations), pod); diff != "" {
				t.Fatalf("%v: a refused Pod is changed: %s", annotations, diff)
			}
			continue
		}
		applied++
		if pod, _ = apply(t, given); !grownOnly(given, pod) {
			t.Fatalf("%v make of the Pod\n%v", annotations, pod.Spec)
		}
	}
	if applied < 200 || refused < 200 {
		t.Errorf("%d Pods were changed and %d refused", applied, refused)
	}
}

func grownOnly(before, after *corev1.Pod) bool {
	before, after = before.DeepCopy(), after.DeepCopy()
	after.Spec.Affinity, after.Spec.Tolerations = nil, nil
	after.Spec.Volumes = after.Spec.Volumes[:len(before.Spec.Volumes)]
	after.OwnerReferences = after.OwnerReferences[:len(before.OwnerReferences)]
	main, was := &after.Spec.Containers[1], before.Spec.Containers[1]
	main.Env, main.VolumeMounts = main.Env[:len(was.Env)], main.VolumeMounts[:len(was.VolumeMounts)]
	return cmp.Equal(before, after)
}

func FuzzApply(f *testing.F) {
	f.Add("volumes.a", `{"name":"a","emptyDir":{"sizeLimit":"1e3"}}`, "volumemounts.a", `{"name":"a","mountPath":"/a"}`)
	f.Add("affinity", "Cg==", "tolerations.x", "CgVzcGFyaw==")
	f.Fuzz(func(t *testing.T, key, value, key2, value2 string) {
		annotations := map[string]string{early + key: value, later + key2: value2}
		pod, _, err := podannotations.Apply(driver(maps.Clone(annotations)))
		if err == nil {
			apply(t, pod)
		}
	})
}

func TestAVolumeThatIsMountedAsAskedForIsLeftAsItIs(t *testing.T) {
	pod := driver(map[string]string{later + "volumes.a": `{"name":"a","emptyDir":{}}`, later + "volumemounts.a": `{"name":"a","mountPath":"/a/"}`})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "a", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "a", MountPath: "/a"})
	changed, warnings := apply(t, pod)
	if diff := cmp.Diff(pod.Spec, changed.Spec); diff != "" || warnings != "" {
		t.Errorf("the Pod is changed: %s %s", diff, warnings)
	}
}
