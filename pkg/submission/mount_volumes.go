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

// mountVolumes mounts the volumes that properties describe, and adds the claims that Spark creates for them. It mirrors
// MountVolumesFeatureStep. It reads the volumes of executors as well: with an invalid one, the driver could only fail,
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

// nameClaim names a claim that is created for this driver alone. Spark numbers the volumes in arbitrary order, Firesteel by
// their names.
func (d *driver) nameClaim(claim *corev1.PersistentVolumeClaimVolumeSource, i int) {
	own := fmt.Sprintf("%s-driver-pvc-%d", d.plan.Names.Prefix, i)
	claim.ClaimName = strings.ReplaceAll(claim.ClaimName, onDemandClaim, own)
}

// addClaim adds the claim itself if the properties describe it: with a storage class and a size, Spark creates even a claim
// that has its own name. The driver deletes the claim at its end, by its label.
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

// checkPathsDiffer refuses two volumes of executors at the same path. Those of the driver are compared with everything else
// that it mounts.
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
