package fields

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// localDirPrefix begins the names of volumes that Spark uses as its scratch directories.
const localDirPrefix = "spark-local-dir-"

// localDir is a volume that properties describe to Spark, and its mount.
type localDir struct {
	kind    string
	mount   corev1.VolumeMount
	options map[string]string
}

// setLocalDirs makes Spark mount the volumes that it uses as its scratch directories.
func (p properties) setLocalDirs(r names.Role, app *v1beta2.SparkApplication) {
	volumes := volumesByName(app)
	for i, mount := range r.Pods(&app.Spec).VolumeMounts {
		dir := localDirOf(app, volumes[mount.Name], mount)
		if dir == nil {
			continue
		}
		prefix := r.KubernetesProperty("volumes." + dir.kind + "." + mount.Name + ".")
		field := r.Field(fmt.Sprintf("volumeMounts[%d]", i))
		p.set(prefix+"mount.path", mount.MountPath, field)
		p.set(prefix+"mount.subPath", mount.SubPath, field)
		if dir.mount.ReadOnly {
			p.set(prefix+"mount.readOnly", "true", field)
		}
		for option, value := range dir.options {
			p.set(prefix+"options."+option, value, "spec.volumes."+mount.Name)
		}
	}
}

// localDirOf returns a scratch directory that properties can describe. It returns nil for any other mount. volume is the
// volume of the mount, nil if there is none.
func localDirOf(app *v1beta2.SparkApplication, volume *corev1.Volume, mount corev1.VolumeMount) *localDir {
	if volume == nil || !isLocalDir(mount) ||
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
		if kind := source.HostPath.Type; kind != nil && *kind != "" {
			if rules, _ := submission.RulesFor(sparkVersion(app)); !rules.VolumeExtras {
				return nil
			}
			dir.options["type"] = string(*kind)
		}
	case source.NFS != nil:
		dir.kind = "nfs"
		dir.options["path"], dir.options["server"] = source.NFS.Path, source.NFS.Server
		dir.mount.ReadOnly = mount.ReadOnly || source.NFS.ReadOnly
	case source.PersistentVolumeClaim != nil:
		dir.kind = "persistentVolumeClaim"
		dir.options["claimName"] = source.PersistentVolumeClaim.ClaimName
		dir.mount.ReadOnly = mount.ReadOnly || source.PersistentVolumeClaim.ReadOnly
	default:
		return nil
	}
	return dir
}

func isLocalDir(mount corev1.VolumeMount) bool { return strings.HasPrefix(mount.Name, localDirPrefix) }

// addLocalDirs adds to a template the scratch directories that no properties can describe: Spark uses those that its
// container mounts already.
func addLocalDirs(app *v1beta2.SparkApplication, r names.Role, pod *corev1.PodSpec, at int) {
	volumes, added := volumesByName(app), volumesOf(pod)
	for _, mount := range r.Pods(&app.Spec).VolumeMounts {
		volume := volumes[mount.Name]
		if !isLocalDir(mount) || volume == nil || localDirOf(app, volume, mount) != nil {
			continue
		}
		added.add(*volume.DeepCopy())
		pod.Containers[at].VolumeMounts = append(pod.Containers[at].VolumeMounts, *mount.DeepCopy())
	}
}
