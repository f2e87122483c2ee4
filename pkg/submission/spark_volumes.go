package submission

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// sparkVolume is a volume that properties describe.
type sparkVolume struct {
	field  string // the property of its path
	mount  corev1.VolumeMount
	source corev1.VolumeSource
	// For a claim, these describe what Spark creates; nil if the properties do not set them.
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
	// given are the properties, by what follows the prefix of the volumes.
	given []pair
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
	for _, properties := range d.volumesUnder(prefix) {
		read, known := volumeSources[properties.kind]
		if !known {
			given := properties.given[0]
			d.conf.refuse(prefix+given.name, given.value, "is of a volume of the type "+properties.kind+", which Spark does not know",
				"write one of "+strings.Join(sortedKeys(volumeSources), " | "))
			continue
		}
		volume := sparkVolume{mount: properties.mount(), field: properties.prefix + "mount.path"}
		read(properties, &volume)
		volumes = append(volumes, volume)
	}
	return volumes
}

// volumesUnder returns the volumes that properties under a prefix describe, each with all of its properties.
func (d *driver) volumesUnder(prefix string) []volumeProperties {
	given := map[string][]pair{}
	var found []volumeProperties
	for _, p := range d.conf.withPrefix(prefix) {
		parts := strings.SplitN(strings.TrimRight(p.name, "."), ".", 3)
		if len(parts) < 2 {
			continue // as in Spark, which ignores a property without a name after the last dot
		}
		own := prefix + parts[0] + "." + parts[1] + "."
		if given[own] == nil {
			found = append(found, volumeProperties{conf: d.conf, rules: d.rules, prefix: own, kind: parts[0], name: parts[1]})
		}
		given[own] = append(given[own], p)
	}
	for i := range found {
		found[i].given = given[found[i].prefix]
	}
	slices.SortFunc(found, func(a, b volumeProperties) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	return found
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
			v.refuse("mount.subPathExpr", "cannot go with "+v.prefix+"mount.subPath", "set one of them")
		}
	}
	v.conf.expect(v.prefix+"mount.path", mount.MountPath, "is of a volume with a name that Kubernetes does not take",
		validation.IsDNS1123Label(mount.Name))
	v.conf.checkWithin(v.prefix+"mount.subPath", mount.SubPath)
	v.conf.checkWithin(v.prefix+"mount.subPathExpr", mount.SubPathExpr)
	return mount
}

func hostPathVolume(v volumeProperties, volume *sparkVolume) {
	source := &corev1.HostPathVolumeSource{Path: v.required("options.path")}
	if leadsUp(source.Path) {
		v.refuse("options.path", "leads up the directories of the host", "write it without ..")
	}
	if kind := corev1.HostPathType(v.optional("options.type")); v.rules.VolumeExtras && kind != "" {
		if !slices.Contains(hostPathTypes, kind) {
			v.refuse("options.type", "is none of Kubernetes' types", fmt.Sprintf("write one of %v", hostPathTypes))
		}
		source.Type = &kind
	}
	volume.source.HostPath = source
}

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate, corev1.HostPathFile,
	corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev,
}

func emptyDirVolume(v volumeProperties, volume *sparkVolume) {
	volume.source.EmptyDir = &corev1.EmptyDirVolumeSource{
		Medium:    corev1.StorageMedium(v.optional("options.medium")),
		SizeLimit: v.sizeLimit(),
	}
}

func nfsVolume(v volumeProperties, volume *sparkVolume) {
	source := &corev1.NFSVolumeSource{Path: v.required("options.path"), Server: v.required("options.server")}
	if source.Path != "" && source.Path[0] != '/' {
		v.refuse("options.path", "is no absolute path", "write one that begins with /")
	}
	volume.source.NFS = source
}

func claimVolume(v volumeProperties, volume *sparkVolume) {
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.required("options.claimName"), ReadOnly: v.readOnly()}
	volume.source.PersistentVolumeClaim = claim
	volume.claimSize = v.sizeLimit()
	if len(claim.ClaimName) > validation.DNS1123SubdomainMaxLength {
		v.refuse("options.claimName", "is longer than the name of a claim can be", fmt.Sprintf("write at most %d characters", validation.DNS1123SubdomainMaxLength))
		claim.ClaimName = ""
	}
	if class := v.optional("options.storageClass"); v.set("options.storageClass") {
		volume.storageClass = &class
	}
	if v.rules.VolumeExtras {
		volume.labels = v.mapUnder("label.")
		volume.annotations = v.mapUnder("annotation.")
	}
	if volume.storageClass != nil && volume.claimSize != nil {
		v.checkClaim(volume)
	}
}

// checkClaim checks a claim that Spark creates.
func (v volumeProperties) checkClaim(volume *sparkVolume) {
	name := strings.ReplaceAll(volume.source.PersistentVolumeClaim.ClaimName, onDemandClaim, "x")
	if name != "" {
		v.conf.checkName(v.prefix+"options.claimName", name, "claim")
	}
	if class := *volume.storageClass; class != "" {
		v.conf.checkName(v.prefix+"options.storageClass", class, "storage class")
	}
	if volume.claimSize.IsZero() {
		v.refuse("options.sizeLimit", "is no size of a claim", "write one above 0")
	}
	for key, value := range volume.labels {
		v.conf.checkLabel(v.prefix+"label.", key, value)
	}
	for key, value := range volume.annotations {
		v.conf.checkAnnotation(v.prefix+"annotation.", key, value)
	}
}

func (v volumeProperties) set(rest string) bool {
	return v.conf.set(v.prefix + rest)
}

// optional returns a property as it is written: Spark does not expand references in the properties of volumes.
func (v volumeProperties) optional(rest string) string {
	return v.conf.values[v.prefix+rest]
}

func (v volumeProperties) required(rest string) string {
	if v.optional(rest) == "" {
		v.refuse(rest, "is missing", "every "+v.kind+" volume needs it")
	}
	return v.optional(rest)
}

func (v volumeProperties) refuse(rest, problem, remedy string) {
	v.conf.refuse(v.prefix+rest, v.optional(rest), problem, remedy)
}

func (v volumeProperties) readOnly() bool {
	return readPlain(v.conf, false, booleans, v.prefix+"mount.readOnly")
}

var onlyDigits = regexp.MustCompile(`^[0-9]+$`)

// sizeLimit returns the size of the volume; nil if there is no valid size.
func (v volumeProperties) sizeLimit() *resource.Quantity {
	const rest = "options.sizeLimit"
	if !v.set(rest) {
		return nil
	}
	given := v.optional(rest)
	limit, ok := parseQuantity(given)
	if !ok {
		v.refuse(rest, quantities.problem, quantities.remedy)
		return nil
	}
	if v.rules.VolumeExtras && onlyDigits.MatchString(given) {
		if bytes, err := strconv.ParseInt(given, 10, 64); err != nil || bytes < 1024 {
			v.refuse(rest, "is a number of bytes below 1 KiB or beyond 63 bits", "write a unit as well, such as "+given+"Gi")
		}
	}
	return &limit
}

// mapUnder returns the volume's properties under a prefix; nil if there are none.
func (v volumeProperties) mapUnder(rest string) map[string]string {
	var found map[string]string
	for _, p := range v.given {
		name, under := strings.CutPrefix(p.name, v.kind+"."+v.name+"."+rest)
		if !under {
			continue
		}
		if found == nil {
			found = map[string]string{}
		}
		found[name] = p.value
	}
	return found
}
