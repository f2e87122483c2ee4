package submission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	driverVolumePrefix   = "spark.kubernetes.driver.volumes."
	executorVolumePrefix = "spark.kubernetes.executor.volumes."
	onDemandClaim        = "OnDemand"
	legacyAccessModeKey  = "spark.kubernetes.legacy.useReadWriteOnceAccessMode"
)

// mountVolumes mounts the volumes that properties describe and adds the claims that Spark is to make for them. It
// mirrors MountVolumesFeatureStep. Executors' volumes are read as well: the driver could only fail on a bad one,
// executor by executor.
func mountVolumes(d *driver) {
	d.checkPathsDiffer(d.readVolumes(executorVolumePrefix))
	accessMode := d.claimAccessMode()
	for i, volume := range d.readVolumes(driverVolumePrefix) {
		if claim := volume.source.PersistentVolumeClaim; claim != nil {
			d.nameClaim(claim, i)
			d.addClaim(volume, accessMode)
		}
		d.mount(volume.mount, volume.source, volume.field)
	}
}

// nameClaim names a claim made for this driver alone. Spark counts the volumes in arbitrary order, we by their names.
func (d *driver) nameClaim(claim *corev1.PersistentVolumeClaimVolumeSource, i int) {
	own := fmt.Sprintf("%s-driver-pvc-%d", d.plan.Names.Prefix, i)
	claim.ClaimName = strings.ReplaceAll(claim.ClaimName, onDemandClaim, own)
}

// addClaim adds the claim itself where the properties say what it is to be: with a storage class and a size Spark
// makes even a claim that has a name of its own. The driver deletes it in the end, by its label.
func (d *driver) addClaim(volume sparkVolume, accessMode corev1.PersistentVolumeAccessMode) {
	if volume.storageClass == nil || volume.claimSize == nil {
		return
	}
	meta := d.meta(volume.source.PersistentVolumeClaim.ClaimName, merged(volume.labels, d.appSelector()))
	meta.Annotations = volume.annotations
	d.owned = append(d.owned, &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: meta,
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: volume.storageClass,
			AccessModes:      []corev1.PersistentVolumeAccessMode{accessMode},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: *volume.claimSize},
			},
		},
	})
}

// checkPathsDiffer refuses volumes of executors at one path. Those of the driver are compared with all else it mounts.
func (d *driver) checkPathsDiffer(volumes []sparkVolume) {
	first := map[string]string{}
	for _, volume := range volumes {
		path := volume.mount.MountPath
		if other, taken := first[path]; taken {
			d.conf.refuse(volume.field, path, "is the path of "+other+" as well", "choose another")
			continue
		}
		first[path] = volume.field
	}
}

func (d *driver) claimAccessMode() corev1.PersistentVolumeAccessMode {
	shared := d.rules.ClaimAccessMode == corev1.ReadWriteOnce
	if d.conf.boolean(shared, legacyAccessModeKey) {
		return corev1.ReadWriteOnce
	}
	return corev1.ReadWriteOncePod
}
