package kubeflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// localDirPrefix begins the names of volumes that Spark takes for its scratch directories.
const localDirPrefix = "spark-local-dir-"

// localDir is a volume that Spark is told of by properties, and where it is mounted.
type localDir struct {
	kind    string
	mount   corev1.VolumeMount
	options map[string]string
}

// setLocalDirs has Spark mount the volumes that it takes for its scratch directories.
func (p properties) setLocalDirs(r role, app *v1beta2.SparkApplication) {
	for i, mount := range r.pods(&app.Spec).VolumeMounts {
		dir := localDirOf(app, mount)
		if dir == nil {
			continue
		}
		prefix := r.property("volumes." + dir.kind + "." + mount.Name + ".")
		field := r.field(fmt.Sprintf("volumeMounts[%d]", i))
		p.set(prefix+"mount.path", mount.MountPath, field)
		p.set(prefix+"mount.subPath", mount.SubPath, field)
		if mount.ReadOnly {
			p.set(prefix+"mount.readOnly", "true", field)
		}
		for option, value := range dir.options {
			p.set(prefix+"options."+option, value, "spec.volumes."+mount.Name)
		}
	}
}

// localDirOf is a scratch directory that properties can describe; nil for any other mount. Those that they cannot, and
// mounts that say what no property can, go the way of all volumes, by which Spark finds them as well.
func localDirOf(app *v1beta2.SparkApplication, mount corev1.VolumeMount) *localDir {
	volume := volumeNamed(app, mount.Name)
	if volume == nil || !strings.HasPrefix(mount.Name, localDirPrefix) ||
		mount.SubPathExpr != "" || mount.MountPropagation != nil || strings.Contains(mount.Name, ".") {
		return nil
	}
	dir := &localDir{mount: mount, options: map[string]string{}}
	switch source := volume.VolumeSource; {
	case source.EmptyDir != nil:
		dir.kind = "emptyDir"
		dir.options["medium"] = string(source.EmptyDir.Medium)
		if limit := source.EmptyDir.SizeLimit; limit != nil {
			dir.options["sizeLimit"] = limit.String()
		}
	case source.HostPath != nil:
		dir.kind = "hostPath"
		dir.options["path"] = source.HostPath.Path
		if kind := source.HostPath.Type; kind != nil {
			dir.options["type"] = string(*kind)
		}
	case source.NFS != nil:
		dir.kind = "nfs"
		dir.options["path"], dir.options["server"] = source.NFS.Path, source.NFS.Server
		dir.options["readOnly"] = trueOrNothing(source.NFS.ReadOnly)
	case source.PersistentVolumeClaim != nil:
		dir.kind = "persistentVolumeClaim"
		dir.options["claimName"] = source.PersistentVolumeClaim.ClaimName
		dir.options["readOnly"] = trueOrNothing(source.PersistentVolumeClaim.ReadOnly)
	default:
		return nil
	}
	return dir
}

func trueOrNothing(value bool) string {
	if !value {
		return ""
	}
	return strconv.FormatBool(value)
}

func volumeNamed(app *v1beta2.SparkApplication, name string) *corev1.Volume {
	i := slices.IndexFunc(app.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == name })
	if i < 0 {
		return nil
	}
	return &app.Spec.Volumes[i]
}
