package submission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volume returns the properties of one volume of the driver, each written rest=value.
func volume(kindAndName string, properties ...string) []string {
	var result []string
	for _, property := range properties {
		result = append(result, driverVolumePrefix+kindAndName+"."+property)
	}
	return result
}

func TestEachTypeOfVolume(t *testing.T) {
	directory, limit := corev1.HostPathDirectory, resource.MustParse("5Gi")
	for name, row := range map[string]struct {
		plan   Plan
		mount  corev1.VolumeMount
		source corev1.VolumeSource
	}{
		"hostPath": {
			pi(volume("hostPath.v", "mount.path=/m", "mount.readOnly=True", "options.path=/host", "options.type=Directory")...),
			corev1.VolumeMount{Name: "v", MountPath: "/m", ReadOnly: true},
			corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/host", Type: &directory}},
		},
		"hostPath before types were known": {
			version(pi(volume("hostPath.v", "mount.path=/m", "options.path=/host", "options.type=Directory")...), "3.5.7"),
			corev1.VolumeMount{Name: "v", MountPath: "/m"},
			corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/host"}},
		},
		"emptyDir": {
			pi(volume("emptyDir.v", "mount.path=/m", "mount.subPath=s", "options.medium=Memory", "options.sizeLimit=5Gi")...),
			corev1.VolumeMount{Name: "v", MountPath: "/m", SubPath: "s"},
			corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "Memory", SizeLimit: &limit}},
		},
		"nfs": {
			pi(volume("nfs.v", "mount.path=/m", "mount.subPathExpr=$(X)", "options.server=s", "options.path=/p", "mount.readOnly=true")...),
			corev1.VolumeMount{Name: "v", MountPath: "/m", SubPathExpr: "$(X)", ReadOnly: true},
			corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p"}},
		},
		"persistentVolumeClaim": {
			pi(volume("persistentVolumeClaim.v", "mount.path=/m", "options.claimName=c", "mount.readOnly=true")...),
			corev1.VolumeMount{Name: "v", MountPath: "/m", ReadOnly: true},
			corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c", ReadOnly: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			wantEqual(t, "mount", driverOf(objects).VolumeMounts[0], row.mount)
			wantEqual(t, "volume", objects.Driver.Spec.Volumes[0], corev1.Volume{Name: "v", VolumeSource: row.source})
			wantEqual(t, "owned objects", len(objects.Owned), 2)
		})
	}
}

func TestVolumesThatCannotBeMountedAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		properties []string
		fragment   string
	}{
		"an unknown type":         {volume("emptydir.v", "mount.path=/m"), "volumes.emptydir.v"},
		"no path":                 {volume("emptyDir.v", "mount.readOnly=true"), "emptyDir.v.mount.path"},
		"a path of two":           {append(volume("emptyDir.v", "mount.path=/m"), volume("emptyDir.w", "mount.path=/m")...), `"/m"`},
		"hostPath without path":   {volume("hostPath.v", "mount.path=/m"), "hostPath.v.options.path"},
		"nfs without server":      {volume("nfs.v", "mount.path=/m", "options.path=/p"), "nfs.v.options.server"},
		"a claim without name":    {volume("persistentVolumeClaim.v", "mount.path=/m"), "options.claimName"},
		"two kinds of sub-path":   {volume("emptyDir.v", "mount.path=/m", "mount.subPath=a", "mount.subPathExpr=b"), "subPathExpr"},
		"a size without unit":     {volume("emptyDir.v", "mount.path=/m", "options.sizeLimit=500"), `"500"`},
		"a size that is none":     {volume("emptyDir.v", "mount.path=/m", "options.sizeLimit=big"), `"big"`},
		"neither true nor false":  {volume("emptyDir.v", "mount.path=/m", "mount.readOnly=maybe"), `"maybe"`},
		"an executor's bad type":  {[]string{executorVolumePrefix + "x.v.mount.path=/m"}, "spark.kubernetes.executor.volumes.x.v"},
		"an executor's bad claim": {[]string{executorVolumePrefix + "persistentVolumeClaim.v.mount.path=/m"}, "claimName"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, pi(row.properties...), row.fragment)
		})
	}
}

func TestAnExecutorsVolumeIsNotTheDrivers(t *testing.T) {
	objects := mustBuild(t, pi(executorVolumePrefix+"emptyDir.v.mount.path=/m"))
	for _, volume := range objects.Driver.Spec.Volumes {
		if volume.Name == "v" {
			t.Error("the driver has it")
		}
	}
}

func TestClaimsThatSparkMakes(t *testing.T) {
	const name = "spark-pi-4c1f889aa56d6000-driver-pvc-"
	made := []string{"mount.path=/m", "options.storageClass=fast", "options.sizeLimit=1Gi"}
	for title, row := range map[string]struct {
		plan        Plan
		claim       string
		mode        corev1.PersistentVolumeAccessMode
		labels      map[string]string
		annotations map[string]string
	}{
		"one on demand":      {plan: pi(volume("persistentVolumeClaim.v", append(made, "options.claimName=OnDemand")...)...), claim: name + "0"},
		"one within a name":  {plan: pi(volume("persistentVolumeClaim.v", append(made, "options.claimName=x-OnDemand-y")...)...), claim: "x-" + name + "0-y"},
		"one of a name":      {plan: pi(volume("persistentVolumeClaim.v", append(made, "options.claimName=mine")...)...), claim: "mine"},
		"the second of two":  {plan: pi(append(volume("emptyDir.a", "mount.path=/a"), volume("persistentVolumeClaim.v", append(made, "options.claimName=OnDemand")...)...)...), claim: name + "1"},
		"one of Spark 3.5":   {plan: version(pi(volume("persistentVolumeClaim.v", append(made, "options.claimName=OnDemand", "label.a=b")...)...), "3.5.7"), claim: name + "0", mode: corev1.ReadWriteOnce},
		"one as in 3.5":      {plan: pi(append(volume("persistentVolumeClaim.v", append(made, "options.claimName=OnDemand")...), legacyAccessModeKey+"=true")...), claim: name + "0", mode: corev1.ReadWriteOnce},
		"one with a label":   {plan: pi(volume("persistentVolumeClaim.v", append(made, "options.claimName=OnDemand", "label.a.b=c")...)...), claim: name + "0", labels: map[string]string{"a.b": "c"}},
		"one with a comment": {plan: pi(volume("persistentVolumeClaim.v", append(made, "options.claimName=OnDemand", "annotation.a=b")...)...), claim: name + "0", annotations: map[string]string{"a": "b"}},
	} {
		t.Run(title, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			claim := owned[*corev1.PersistentVolumeClaim](t, objects)
			if row.mode == "" {
				row.mode = corev1.ReadWriteOncePod
			}
			class := "fast"
			want := corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class,
				AccessModes:      []corev1.PersistentVolumeAccessMode{row.mode},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			}
			wantEqual(t, "spec", claim.Spec, want)
			wantEqual(t, "metadata", claim.ObjectMeta, metav1.ObjectMeta{
				Name: row.claim, Namespace: "default", Annotations: row.annotations,
				Labels: merged(row.labels, map[string]string{"spark-app-selector": "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061"}),
			})
			volumes := objects.Driver.Spec.Volumes
			wantEqual(t, "volume", volumes[len(volumes)-3].PersistentVolumeClaim.ClaimName, row.claim)
		})
	}
}

func TestAClaimWithoutClassOrSizeIsTheUsersOwnToMake(t *testing.T) {
	for _, property := range []string{"options.storageClass=fast", "options.sizeLimit=1Gi"} {
		objects := mustBuild(t, pi(volume("persistentVolumeClaim.v", "mount.path=/m", "options.claimName=c", property)...))
		if list := strings.Join(names(objects), " "); strings.Contains(list, "PersistentVolumeClaim") {
			t.Errorf("%s: %s", property, list)
		}
	}
}
