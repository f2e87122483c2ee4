// Package podannotations changes Pods of plain spark-submit runs as their annotations ask. The first Spark operators did so with an
// initializer, and later with a webhook. Nothing else of an operator is needed for such Pods.
//
// It is pure.
package podannotations

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// googleCredentials is the environment variable with the path of a service account's key, and keyFile the name of that file.
const googleCredentials, keyFile = "GOOGLE_APPLICATION_CREDENTIALS", "key.json"

// Apply returns a Pod with what its annotations ask for, and warnings. The result of a changed Pod is that Pod. A Pod that is refused is
// returned as it was: the error has all findings. A Pod without known annotations is returned as it is.
func Apply(pod *corev1.Pod) (*corev1.Pod, finding.List, error) {
	asked, warnings, err := read(pod.Annotations)
	if err != nil || asked == nil {
		return pod, nil, err
	}
	if len(pod.Spec.Containers) == 0 {
		return pod, nil, nil // the API server refuses it
	}
	m := &mutation{pod: pod.DeepCopy(), findings: warnings}
	m.main = sparkContainer(m.pod)
	m.confDir(asked[SparkConfigMap], names.SparkConfVolume, names.SparkConfDir, names.SparkConfDirVariable)
	m.confDir(asked[HadoopConfigMap], names.HadoopConfVolume, names.HadoopConfDir, names.HadoopConfDirVariable)
	m.configMaps(asked)
	m.secrets(asked)
	m.volumes(asked)
	m.affinity(asked)
	m.tolerations(asked)
	m.owner(asked)
	if refused := slices.DeleteFunc(slices.Clone(m.findings), func(f finding.Finding) bool { return f.Severity != finding.Error }); len(refused) > 0 {
		return pod, nil, refused.Err()
	}
	return m.pod, m.findings, nil
}

// sparkContainer returns the container of Spark. A pod template may give it another name.
func sparkContainer(pod *corev1.Pod) *corev1.Container {
	role := names.Role(pod.Labels[names.LabelRole])
	for _, isSparks := range []func(corev1.Container) bool{
		func(c corev1.Container) bool { return c.Name == role.Container() },
		func(c corev1.Container) bool {
			return slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == "SPARK_APPLICATION_ID" })
		},
	} {
		if at := slices.IndexFunc(pod.Spec.Containers, isSparks); at >= 0 {
			return &pod.Spec.Containers[at]
		}
	}
	return &pod.Spec.Containers[0]
}

// mutation changes a Pod.
type mutation struct {
	pod      *corev1.Pod
	main     *corev1.Container
	findings finding.List
}

// refuse adds what an error holds, and reports whether there is one.
func (m *mutation) refuse(err error) bool {
	m.findings = append(m.findings, finding.Of(err)...)
	return err != nil
}

// confDir mounts a config map with configuration files.
func (m *mutation) confDir(asked map[string]entry, volumeName, dir, variable string) {
	for _, e := range asked {
		name, err := e.objectName()
		if m.refuse(err) {
			return
		}
		if m.mount(e, configMapVolume(volumeName, name), dir) {
			m.setEnv(variable, dir)
		}
	}
}

func (m *mutation) configMaps(asked request) {
	for _, e := range asked.sorted(ConfigMap) {
		if name, mountPath, err := e.mount("ConfigMap"); !m.refuse(err) {
			m.mount(e.entry, configMapVolume(names.ConfigMapVolume(name), name), mountPath)
		}
	}
}

// secrets mounts secrets, and those with keys of service accounts of Google.
func (m *mutation) secrets(asked request) {
	for _, e := range asked.sorted(Secret) {
		if name, mountPath, err := e.mount("Secret"); !m.refuse(err) {
			m.mount(e.entry, secretVolume(name), mountPath)
		}
	}
	accounts := asked.sorted(ServiceAccount)
	for i, e := range accounts {
		name, mountPath, err := e.mount("Secret")
		if m.refuse(err) || !m.mount(e.entry, secretVolume(name), mountPath) {
			continue
		}
		if i == 0 {
			m.setEnv(googleCredentials, path.Join(mountPath, keyFile))
			continue
		}
		m.findings.Warn(e.field(), nil, "is mounted, but "+googleCredentials+" has the key of "+accounts[0].name, "name one service account if the other keys are not needed")
	}
}

// volumes adds each volume together with its mount.
func (m *mutation) volumes(asked request) {
	for _, e := range asked.sorted(Volume) {
		mountEntry, ok := asked[VolumeMount][e.name]
		if !ok {
			m.findings.Warn(e.field(), nil, "has no effect", "add an annotation volumemounts."+e.name)
			continue
		}
		added, err := decode[corev1.Volume](e.entry, `{"name":"data","emptyDir":{}}`, missingOfVolume)
		mount, err2 := decode[corev1.VolumeMount](mountEntry, `{"name":"data","mountPath":"/data"}`, missingOfMount)
		switch {
		case m.refuse(err) || m.refuse(err2):
		case added.Name != mount.Name:
			m.refuse(mountEntry.refuse("mounts another volume than "+e.key+", which is named "+added.Name, "give both one name"))
		case m.addVolume(e.entry, *added):
			m.addMount(mountEntry, *mount)
		}
	}
	for _, e := range asked.sorted(VolumeMount) {
		if _, ok := asked[Volume][e.name]; !ok {
			m.findings.Warn(e.field(), nil, "has no effect", "add an annotation volumes."+e.name)
		}
	}
}

func (m *mutation) affinity(asked request) {
	for _, e := range asked[Affinity] {
		wanted, err := decode[corev1.Affinity](e, `{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}`, missingOfAffinity)
		switch current := m.pod.Spec.Affinity; {
		case m.refuse(err), current != nil && includes(current, wanted):
		case current != nil:
			m.findings.Warn(e.field(), nil, "replaces the affinity that the Pod has already", "write one of them only")
			fallthrough
		default:
			m.pod.Spec.Affinity = wanted
		}
	}
}

func (m *mutation) tolerations(asked request) {
	for _, e := range asked.sorted(Toleration) {
		wanted, err := decode[corev1.Toleration](e.entry, `{"key":"spark","operator":"Exists","effect":"NoSchedule"}`, missingOfToleration)
		if !m.refuse(err) && !slices.ContainsFunc(m.pod.Spec.Tolerations, func(t corev1.Toleration) bool { return includes(t, wanted) }) {
			m.pod.Spec.Tolerations = append(m.pod.Spec.Tolerations, *wanted)
		}
	}
}

// owner adds an owner. A Pod has one controller at most: that of an executor is its driver.
func (m *mutation) owner(asked request) {
	for _, e := range asked[OwnerReference] {
		wanted, err := decode[metav1.OwnerReference](e, `{"apiVersion":"v1","kind":"ConfigMap","name":"run","uid":"..."}`, missingOfOwner)
		if m.refuse(err) || slices.ContainsFunc(m.pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == wanted.UID }) {
			return
		}
		if controller := metav1.GetControllerOf(m.pod); controller != nil && wanted.Controller != nil && *wanted.Controller {
			wanted.Controller = nil
			m.findings.Warn(e.field(), nil, "is added as an owner that is no controller, since "+controller.Kind+" "+controller.Name+" is the Pod's controller", "leave controller out")
		}
		m.pod.OwnerReferences = append(m.pod.OwnerReferences, *wanted)
	}
}

func configMapVolume(volumeName, configMapName string) corev1.Volume {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMapName}}
	return corev1.Volume{Name: volumeName, VolumeSource: corev1.VolumeSource{ConfigMap: source}}
}

func secretVolume(name string) corev1.Volume {
	source := &corev1.SecretVolumeSource{SecretName: name}
	return corev1.Volume{Name: names.SecretVolume(name), VolumeSource: corev1.VolumeSource{Secret: source}}
}

// mount adds a volume and mounts it in Spark's container. It reports whether it is mounted.
func (m *mutation) mount(e entry, added corev1.Volume, mountPath string) bool {
	return m.addVolume(e, added) && m.addMount(e, corev1.VolumeMount{Name: added.Name, MountPath: mountPath, ReadOnly: true})
}

// addVolume adds a volume, unless the Pod has the same already.
func (m *mutation) addVolume(e entry, added corev1.Volume) bool {
	at := slices.IndexFunc(m.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == added.Name })
	switch {
	case at < 0:
		m.pod.Spec.Volumes = append(m.pod.Spec.Volumes, added)
	case !includes(m.pod.Spec.Volumes[at], added):
		return !m.refuse(e.refuse("needs the volume "+added.Name+", and the Pod has another volume with that name", "give the other volume another name"))
	}
	return true
}

// addMount adds a mount to Spark's container, unless the container has the same already.
func (m *mutation) addMount(e entry, added corev1.VolumeMount) bool {
	at := slices.IndexFunc(m.main.VolumeMounts, func(mount corev1.VolumeMount) bool { return path.Clean(mount.MountPath) == path.Clean(added.MountPath) })
	switch {
	case at < 0:
		m.main.VolumeMounts = append(m.main.VolumeMounts, added)
	case m.main.VolumeMounts[at].Name != added.Name:
		return !m.refuse(e.refuse("is to be mounted at "+added.MountPath+", where the volume "+m.main.VolumeMounts[at].Name+" is mounted", "mount one of them elsewhere"))
	case !includes(m.asMounted(m.main.VolumeMounts[at]), m.asMounted(added)):
		return !m.refuse(e.refuse("is to be mounted at "+added.MountPath+", where the container mounts the volume in another way", "leave one of them out"))
	}
	return true
}

// asMounted returns a mount without what makes no difference: the spelling of its path, and whether a ConfigMap or a Secret is read-only, as
// the kubelet mounts them in any case.
func (m *mutation) asMounted(mount corev1.VolumeMount) corev1.VolumeMount {
	mount.MountPath = path.Clean(mount.MountPath)
	at := slices.IndexFunc(m.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
	if at >= 0 && (m.pod.Spec.Volumes[at].ConfigMap != nil || m.pod.Spec.Volumes[at].Secret != nil) {
		mount.ReadOnly = false
	}
	return mount
}

// setEnv sets a variable of Spark's container. It comes after Spark's own with that name: the last one counts.
func (m *mutation) setEnv(name, value string) {
	for _, variable := range slices.Backward(m.main.Env) {
		if variable.Name != name {
			continue
		}
		if variable.Value == value && variable.ValueFrom == nil {
			return
		}
		break
	}
	m.main.Env = append(m.main.Env, corev1.EnvVar{Name: name, Value: value})
}

// includes reports whether an object of the API server has all fields of another one. The API server adds defaults.
func includes(object, wanted any) bool { return includesJSON(plain(object), plain(wanted)) }

func includesJSON(object, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, ok := object.(map[string]any)
		for key, value := range wanted {
			ok = ok && includesJSON(fields[key], value)
		}
		return ok
	case []any:
		items, ok := object.([]any)
		ok = ok && len(items) == len(wanted)
		for i := range wanted {
			ok = ok && includesJSON(items[i], wanted[i])
		}
		return ok
	default:
		return reflect.DeepEqual(object, wanted)
	}
}

// plain returns the JSON of an object, decoded.
func plain(object any) any {
	var decoded any
	encoded, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(encoded, &decoded)
	}
	if err != nil {
		return err // equals nothing: cannot happen, since the object was decoded
	}
	return decoded
}
