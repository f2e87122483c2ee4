package submission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	localDirVolume = "spark-local-dir-"
	localDirsKey   = "spark.local.dir"
)

// localDirs gives the driver its scratch directories: those volumes that the container mounts already, or new empty
// ones. It mirrors LocalDirsFeatureStep, less the random order of the directories.
func localDirs(d *driver) {
	dirs := d.mountedLocalDirs()
	if len(dirs) == 0 {
		dirs = d.newLocalDirs()
		d.mountLocalDirs(dirs)
	}
	d.addEnv("SPARK_LOCAL_DIRS", strings.Join(dirs, ","))
}

func (d *driver) mountedLocalDirs() []string {
	var dirs []string
	for _, mount := range d.container.VolumeMounts {
		if strings.HasPrefix(mount.Name, localDirVolume) {
			dirs = append(dirs, mount.MountPath)
		}
	}
	return dirs
}

func (d *driver) newLocalDirs() []string {
	given, set := d.conf.values[localDirsKey]
	if !set {
		return []string{d.plan.Names.LocalDir}
	}
	dirs := splitList(given)
	if len(dirs) == 0 {
		d.conf.refuse(localDirsKey, given, "names no directory", "leave it out, or name one")
	}
	return dirs
}

func (d *driver) mountLocalDirs(dirs []string) {
	medium := corev1.StorageMediumDefault
	if d.conf.boolean(false, "spark.kubernetes.local.dirs.tmpfs") {
		medium = corev1.StorageMediumMemory
	}
	for i, dir := range dirs {
		name := fmt.Sprintf("%s%d", localDirVolume, i+1)
		d.addVolume(name, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}})
		d.addMount(corev1.VolumeMount{Name: name, MountPath: dir})
	}
}
