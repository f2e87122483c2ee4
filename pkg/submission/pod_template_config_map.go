package submission

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	templateDir  = "/opt/spark/pod-template"
	templateFile = "pod-spec-template.yml"

	// PodTemplateKey is the key of the executors' pod template in its config map.
	PodTemplateKey = "podspec-configmap-key"
)

// podTemplateConfigMap passes the executors' pod template to the driver, which creates the executors. It mirrors
// PodTemplateConfigMapStep.
func podTemplateConfigMap(d *driver) {
	if d.plan.ExecutorTemplate == nil {
		if path, set := d.conf.values[executorTemplateKey]; set {
			d.conf.refuse(executorTemplateKey, path, templateFileProblem, inlineTemplateRemedy)
		}
		return
	}
	manifest, err := podManifest(d.plan.ExecutorTemplate)
	if err != nil {
		d.conf.refuse("executorTemplate", "", err.Error(), "correct the template")
		return
	}
	d.conf.checkFits("executorTemplate", manifest)
	name := d.plan.Names.Prefix + "-driver-podspec-conf-map"
	configMap := d.configMap(name, map[string]string{PodTemplateKey: manifest})
	d.owned = append(d.owned, configMap)
	source := configMapVolume(name, corev1.KeyToPath{Key: PodTemplateKey, Path: templateFile})
	d.podTemplate = &mountedConfigMap{configMap, source.ConfigMap}
	d.mount(corev1.VolumeMount{Name: "pod-template-volume", MountPath: templateDir}, source, "executorTemplate")
	d.written[executorTemplateKey] = templateDir + "/" + templateFile
}

// configMap returns an immutable config map of the attempt.
func (d *driver) configMap(name string, data map[string]string) *corev1.ConfigMap {
	immutable := true
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: d.meta(name, nil),
		Immutable:  &immutable,
		Data:       data,
	}
}

// longManifest is the size in bytes from which a template is written as JSON, which is valid YAML as well. Writing it as
// block YAML takes hundreds of times its size in memory.
const longManifest = 64 << 10

// podManifest returns a template as the manifest of a Pod in YAML, the format that the driver reads.
func podManifest(template *corev1.PodTemplateSpec) (string, error) {
	pod := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: template.ObjectMeta,
		Spec:       template.Spec,
	}
	pod.Finalizers = nil
	text, err := json.Marshal(pod)
	if err != nil {
		return "", fmt.Errorf("encode pod template: %w", err)
	}
	if len(text) > maxConfigMap {
		return "", fmt.Errorf("is of %d bytes, and a config map holds %d", len(text), maxConfigMap)
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return "", fmt.Errorf("decode pod template: %w", err)
	}
	delete(manifest, "status")
	dropNulls(manifest)
	encode := yaml.Marshal
	if len(text) > longManifest {
		encode = json.Marshal
	}
	result, err := encode(manifest)
	return string(result), err
}

// dropNulls removes what Go encodes as null, for example a missing list of containers: the driver's client would read the
// null as a list.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, entry := range value {
			if entry == nil {
				delete(value, key)
			}
			dropNulls(entry)
		}
	case []any:
		for _, entry := range value {
			dropNulls(entry)
		}
	}
}
