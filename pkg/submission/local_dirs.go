package submission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	localDirVolume = "spark-local-dir-"
	localDirsKey   = "spark.local.dir"
)

// localDirs gives the driver its scratch directories: the volumes that the container mounts already, or new empty ones. It
// mirrors LocalDirsFeatureStep, without the random order of the directories.
func localDirs(d *driver) {
	dirs := d.mountedLocalDirs()
	if len(dirs) == 0 {
		dirs = d.newLocalDirs()
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

// newLocalDirs mounts the directories that a property lists, with their blanks, or one.
func (d *driver) newLocalDirs() []string {
	given, set := d.conf.values[localDirsKey]
	if !set {
		dirs := []string{d.plan.Names.LocalDir}
		d.mountLocalDirs(dirs, "")
		return dirs
	}
	dirs := strings.Split(strings.TrimRight(given, ","), ",")
	if slices.ContainsFunc(dirs, func(dir string) bool { return trimmed(dir) == "" }) {
		d.conf.refuse(localDirsKey, given, "holds no directory, or an empty one", "leave it out, or name one between two commas")
	}
	d.mountLocalDirs(dirs, localDirsKey)
	return dirs
}

func (d *driver) mountLocalDirs(dirs []string, field string) {
	medium := d.localDirMedium()
	for i, dir := range dirs {
		name := fmt.Sprintf("%s%d", localDirVolume, i+1)
		source := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}}
		d.mount(corev1.VolumeMount{Name: name, MountPath: dir}, source, field)
	}
}

func (d *driver) localDirMedium() corev1.StorageMedium {
	if d.conf.boolean(false, "spark.kubernetes.local.dirs.tmpfs") {
		return corev1.StorageMediumMemory
	}
	return corev1.StorageMediumDefault
}
