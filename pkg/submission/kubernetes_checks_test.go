package submission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

func TestValuesThatTheAPIServerWouldRefuseAreRefusedByProperty(t *testing.T) {
	claim := volume("persistentVolumeClaim.v", "mount.path=/m", "options.claimName=OnDemand", "options.storageClass=fast", "options.sizeLimit=1Gi")
	for name, row := range map[string]struct {
		properties []string
		field      string
		value      string
	}{
		"a label's key":            {[]string{"spark.kubernetes.driver.label.a b=c"}, "spark.kubernetes.driver.label.a b", "c"},
		"a label's value":          {[]string{"spark.kubernetes.driver.label.a=b c"}, "spark.kubernetes.driver.label.a", "b c"},
		"an annotation's key":      {[]string{"spark.kubernetes.driver.annotation.a b=c"}, "spark.kubernetes.driver.annotation.a b", "c"},
		"a selector's value":       {[]string{"spark.kubernetes.node.selector.a=b c"}, "spark.kubernetes.node.selector.a", "b c"},
		"a Service's label":        {[]string{serviceLabelPrefix + "a=b c"}, serviceLabelPrefix + "a", "b c"},
		"a Service's annotation":   {[]string{"spark.kubernetes.driver.service.annotation.-=b"}, "spark.kubernetes.driver.service.annotation.-", "b"},
		"two families in one":      {[]string{ipFamiliesKey + "=IPv4,IPv6"}, ipFamiliesKey, "IPv4,IPv6"},
		"a variable's name":        {[]string{"spark.kubernetes.driverEnv.é=b"}, "spark.kubernetes.driverEnv.é", "b"},
		"an image with a blank":    {[]string{imageKey + "= spark"}, imageKey, " spark"},
		"a service account":        {[]string{serviceAccountKey + "=Spark"}, serviceAccountKey, "Spark"},
		"a pod":                    {[]string{driverPodNameKey + "=A_b"}, driverPodNameKey, "A_b"},
		"a secret":                 {[]string{secretKeyRefPrefix + "A=B:c"}, secretKeyRefPrefix + "A", "B"},
		"a secret's key":           {[]string{secretKeyRefPrefix + "A=b:c d"}, secretKeyRefPrefix + "A", "c d"},
		"a secret without path":    {[]string{secretPrefix + "a="}, secretPrefix + "a", ""},
		"less than is requested":   {[]string{limitCoresKey + "=0.5"}, limitCoresKey, "0.5"},
		"less than nothing":        {[]string{requestCoresKey + "=-1"}, requestCoresKey, "-1"},
		"a device of no vendor":    {[]string{"spark.driver.resource.gpu.amount=1", "spark.driver.resource.gpu.vendor=a b"}, "spark.driver.resource.gpu.vendor", "a b"},
		"a volume's name":          {volume("emptyDir.V_1", "mount.path=/m"), driverVolumePrefix + "emptyDir.V_1.mount.path", "/m"},
		"a volume's path":          {volume("emptyDir.v", "mount.path="), driverVolumePrefix + "emptyDir.v.mount.path", ""},
		"a path out of a volume":   {volume("emptyDir.v", "mount.path=/m", "mount.subPath=../x"), driverVolumePrefix + "emptyDir.v.mount.subPath", "../x"},
		"a path from the root":     {volume("emptyDir.v", "mount.path=/m", "mount.subPathExpr=/x"), driverVolumePrefix + "emptyDir.v.mount.subPathExpr", "/x"},
		"a path up the host":       {volume("hostPath.v", "mount.path=/m", "options.path=/a/../b"), driverVolumePrefix + "hostPath.v.options.path", "/a/../b"},
		"a type of nothing":        {volume("hostPath.v", "mount.path=/m", "options.path=/a", "options.type=dir"), driverVolumePrefix + "hostPath.v.options.type", "dir"},
		"a relative share":         {volume("nfs.v", "mount.path=/m", "options.server=s", "options.path=a"), driverVolumePrefix + "nfs.v.options.path", "a"},
		"a claim's name":           {append(claim, volume("persistentVolumeClaim.v", "options.claimName=A_b")...), driverVolumePrefix + "persistentVolumeClaim.v.options.claimName", "A_b"},
		"a claim of nothing":       {append(claim, volume("persistentVolumeClaim.v", "options.sizeLimit=0Gi")...), driverVolumePrefix + "persistentVolumeClaim.v.options.sizeLimit", "0Gi"},
		"a claim's class":          {append(claim, volume("persistentVolumeClaim.v", "options.storageClass=A_b")...), driverVolumePrefix + "persistentVolumeClaim.v.options.storageClass", "A_b"},
		"a claim's label":          {append(claim, volume("persistentVolumeClaim.v", "label.a=b c")...), driverVolumePrefix + "persistentVolumeClaim.v.label.a", "b c"},
		"a claim's annotation":     {append(claim, volume("persistentVolumeClaim.v", "annotation.a b=c")...), driverVolumePrefix + "persistentVolumeClaim.v.annotation.a b", "c"},
		"the path of Spark's own":  {[]string{secretPrefix + "a=" + confDir}, secretPrefix + "a", confDir},
		"a name of two properties": {append(volume("emptyDir.a", "mount.path=/a"), volume("hostPath.a", "mount.path=/b", "options.path=/b")...), driverVolumePrefix + "hostPath.a.mount.path", "a"},
		"a directory twice":        {[]string{localDirsKey + "=/a,/a"}, localDirsKey, "/a"},
		"more than a config map":   {[]string{"spark.x=" + strings.Repeat("x", maxConfigMap)}, "properties", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(pi(row.properties...))
			want := finding.Finding{Field: row.field}
			if row.value != "" {
				want.Value = row.value
			}
			if err == nil || !strings.Contains(err.Error(), want.Error()) {
				t.Errorf("want %q %q refused, got %v", row.field, row.value, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("one mistake has several refusals: %v", err)
			}
		})
	}
}

func TestValuesThatTheAPIServerAcceptsAreAccepted(t *testing.T) {
	for name, properties := range map[string][]string{
		"an annotation in upper case":     {"spark.kubernetes.driver.annotation.Example.com/A=b"},
		"a variable with a dot":           {"spark.kubernetes.driverEnv.a.b=c"},
		"a limit equal to the request":    {limitCoresKey + "=1000m"},
		"a device of Kubernetes' own":     {"spark.driver.resource.gpu.amount=1", "spark.driver.resource.gpu.vendor=kubernetes.io"},
		"no devices of anybody's":         {"spark.driver.resource.gpu.amount=-1"},
		"a size limit of nothing":         volume("emptyDir.v", "mount.path=/m", "options.sizeLimit=0Gi"),
		"dots in the path of a mount":     volume("emptyDir.v", "mount.path=/a/../b"),
		"what follows no volume's name":   {driverVolumePrefix + "emptyDir.=x"},
		"a claim on demand within a name": volume("persistentVolumeClaim.v", "mount.path=/m", "options.claimName=a-OnDemand.b"),
	} {
		t.Run(name, func(t *testing.T) {
			mustBuild(t, pi(properties...))
		})
	}
}

func TestTwoMountsOfOneContainerAtOnePathAreRefused(t *testing.T) {
	twice := []corev1.VolumeMount{{Name: "a", MountPath: "/a"}, {Name: "b", MountPath: "/a"}}
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "init", VolumeMounts: twice}},
		Containers:     []corev1.Container{{VolumeMounts: twice}, {Name: "other", VolumeMounts: twice[:1]}},
	}}
	wantRefused(t, templated(pi(), template),
		`driverTemplate.spec.initContainers[0].volumeMounts[1].mountPath "/a" is the path of two volumes of the container init: choose another`,
		`driverTemplate.spec.containers[0].volumeMounts[1].mountPath "/a" is the path of two volumes of the container: choose another`)
}

func TestTemplateThatConflictsIsNamed(t *testing.T) {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "a-volume"}},
		Containers: []corev1.Container{{
			VolumeMounts: []corev1.VolumeMount{{Name: "b", MountPath: confDir}},
			Resources:    corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		}},
	}}
	wantRefused(t, templated(pi(secretPrefix+"a=/a", requestCoresKey+"=2"), template),
		secretPrefix+`a "a-volume" is the name of two volumes of the driver pod, here and in driverTemplate.spec.volumes`,
		`driverTemplate.spec.containers[0].volumeMounts[0].mountPath "/opt/spark/conf" is the path of two volumes`,
		`driverTemplate.spec.containers[0].resources.limits[cpu] "1" is less than the 2 that the driver requests`)
}
