package submission

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// sparkVolume is a volume that properties describe.
type sparkVolume struct {
	mount  corev1.VolumeMount
	source corev1.VolumeSource
	// Of a claim, what it is to be if Spark makes it; nil where the properties do not say.
	storageClass        *string
	claimSize           *resource.Quantity
	labels, annotations map[string]string
}

// volumeProperties are the properties of one volume: PREFIX<kind>.<name>.<rest>.
type volumeProperties struct {
	conf  *conf
	rules Rules
	// prefix ends with the volume's name and a dot.
	prefix, kind, name string
}

// volumeSources are the types of volumes that Spark knows, by the word for them in a property.
var volumeSources = map[string]func(volumeProperties, *sparkVolume){
	"hostPath":              hostPathVolume,
	"emptyDir":              emptyDirVolume,
	"nfs":                   nfsVolume,
	"persistentVolumeClaim": claimVolume,
}

// readVolumes returns the volumes under a prefix, by name and type. It mirrors KubernetesVolumeUtils.
func (d *driver) readVolumes(prefix string) []sparkVolume {
	var volumes []sparkVolume
	paths := map[string]bool{}
	for _, properties := range d.volumesUnder(prefix) {
		read, known := volumeSources[properties.kind]
		if !known {
			d.conf.refuse(strings.TrimSuffix(properties.prefix, "."), "", "is no type of volume that Spark knows",
				"write one of "+strings.Join(sortedKeys(volumeSources), " | "))
			continue
		}
		volume := sparkVolume{mount: properties.mount()}
		read(properties, &volume)
		if path := volume.mount.MountPath; path != "" && paths[path] {
			properties.refuse("mount.path", "is the path of another volume as well", "choose another")
		}
		paths[volume.mount.MountPath] = true
		volumes = append(volumes, volume)
	}
	return volumes
}

func (d *driver) volumesUnder(prefix string) []volumeProperties {
	var found []volumeProperties
	for _, p := range d.conf.withPrefix(prefix) {
		parts := strings.SplitN(p.name, ".", 3)
		if len(parts) < 2 {
			continue
		}
		own := prefix + parts[0] + "." + parts[1] + "."
		found = append(found, volumeProperties{d.conf, d.rules, own, parts[0], parts[1]})
	}
	slices.SortFunc(found, func(a, b volumeProperties) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	return slices.CompactFunc(found, func(a, b volumeProperties) bool { return a.prefix == b.prefix })
}

func (v volumeProperties) mount() corev1.VolumeMount {
	mount := corev1.VolumeMount{
		Name:      v.name,
		MountPath: v.required("mount.path"),
		ReadOnly:  v.readOnly(),
		SubPath:   v.optional("mount.subPath"),
	}
	if v.rules.VolumeExtras {
		mount.SubPathExpr = v.optional("mount.subPathExpr")
		if v.set("mount.subPath") && v.set("mount.subPathExpr") {
			v.refuse("mount.subPathExpr", "cannot go with mount.subPath", "set one of them")
		}
	}
	return mount
}

func hostPathVolume(v volumeProperties, volume *sparkVolume) {
	source := &corev1.HostPathVolumeSource{Path: v.required("options.path")}
	if kind := corev1.HostPathType(v.optional("options.type")); v.rules.VolumeExtras && kind != "" {
		source.Type = &kind
	}
	volume.source.HostPath = source
}

func emptyDirVolume(v volumeProperties, volume *sparkVolume) {
	volume.source.EmptyDir = &corev1.EmptyDirVolumeSource{
		Medium:    corev1.StorageMedium(v.optional("options.medium")),
		SizeLimit: v.sizeLimit(),
	}
}

func nfsVolume(v volumeProperties, volume *sparkVolume) {
	volume.source.NFS = &corev1.NFSVolumeSource{
		Path:   v.required("options.path"),
		Server: v.required("options.server"),
	}
}

func claimVolume(v volumeProperties, volume *sparkVolume) {
	volume.source.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{
		ClaimName: v.required("options.claimName"),
		ReadOnly:  v.readOnly(),
	}
	volume.claimSize = v.sizeLimit()
	if class := v.optional("options.storageClass"); v.set("options.storageClass") {
		volume.storageClass = &class
	}
	if v.rules.VolumeExtras {
		volume.labels = v.mapUnder("label.")
		volume.annotations = v.mapUnder("annotation.")
	}
}

func (v volumeProperties) set(rest string) bool {
	return v.conf.set(v.prefix + rest)
}

// optional returns a property as it is written: Spark expands no references in those of volumes.
func (v volumeProperties) optional(rest string) string {
	return v.conf.values[v.prefix+rest]
}

func (v volumeProperties) required(rest string) string {
	if !v.set(rest) {
		v.refuse(rest, "is missing", "every "+v.kind+" volume needs it")
	}
	return v.optional(rest)
}

func (v volumeProperties) refuse(rest, problem, remedy string) {
	v.conf.refuse(v.prefix+rest, v.optional(rest), problem, remedy)
}

func (v volumeProperties) readOnly() bool {
	const rest = "mount.readOnly"
	value, ok := parseBoolean(v.optional(rest))
	if v.set(rest) && !ok {
		v.refuse(rest, booleans.problem, booleans.remedy)
	}
	return value
}

// sizeLimit returns the size of the volume, nil for none.
func (v volumeProperties) sizeLimit() *resource.Quantity {
	const rest = "options.sizeLimit"
	if !v.set(rest) {
		return nil
	}
	limit, ok := parseQuantity(v.optional(rest))
	bytes, plain := parseCount(v.optional(rest))
	switch {
	case !ok:
		v.refuse(rest, quantities.problem, quantities.remedy)
	case v.rules.VolumeExtras && plain && bytes < 1024:
		v.refuse(rest, "is below 1 KiB", "write the unit as well, such as "+v.optional(rest)+"Gi")
	}
	return &limit
}

func (v volumeProperties) mapUnder(rest string) map[string]string {
	var found map[string]string
	for _, p := range v.conf.withPrefix(v.prefix + rest) {
		found = merged(found, map[string]string{p.name: p.value})
	}
	return found
}
