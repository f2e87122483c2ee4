package sparksubmit

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// ClaimMount is a place at which the driver of an application mounts a claim.
type ClaimMount struct {
	Claim, Path string
	// SubPath is the folder of the claim that is mounted; empty for the whole claim.
	SubPath string
}

// Reads returns the path at which the driver reads a folder of a claim; empty if it does not mount the folder here.
func (m ClaimMount) Reads(claim, folder string) string {
	folder, below := path.Join("/", folder), path.Join("/", m.SubPath)
	rest, within := strings.CutPrefix(folder+"/", strings.TrimSuffix(below, "/")+"/")
	if m.Claim != claim || m.Path == "" || !within {
		return ""
	}
	return path.Join(m.Path, rest)
}

// Receiver is what a Pod needs of an application, to receive files for it.
type Receiver struct {
	Namespace string
	// Image is the image of the driver; empty if it is not known.
	Image       string
	PullSecrets []string
	Mounts      []ClaimMount
}

const pullSecretsKey = "spark.kubernetes.container.image.pullSecrets"

// Receiver returns what a Pod needs of the submission, to receive files for it.
func (s *Submission) Receiver(namespace string) Receiver {
	return Receiver{namespace, s.Image(), slices.Collect(items(s.Properties[pullSecretsKey])), mountsOfProperties(s.Properties)}
}

// mountsOfProperties returns the mounts that properties of Spark describe.
func mountsOfProperties(properties map[string]string) []ClaimMount {
	const prefix, named = "spark.kubernetes.driver.volumes.persistentVolumeClaim.", ".options.claimName"
	var mounts []ClaimMount
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		name, under := strings.CutPrefix(key, prefix)
		name, ofClaim := strings.CutSuffix(name, named)
		if under && ofClaim {
			of := prefix + name + ".mount."
			mounts = append(mounts, ClaimMount{Claim: properties[key], Path: properties[of+"path"], SubPath: properties[of+"subPath"]})
		}
	}
	return mounts
}

// ManifestReceiver returns what a Pod needs of the application of a manifest, to receive files for it.
func ManifestReceiver(manifest Object, namespace string) Receiver {
	spec, _, _ := specOf(manifest)
	properties := ManifestProperties(manifest)
	driver, _ := within(spec, "driver")
	image, _ := driver["image"].(string)
	ofBoth, _ := spec["image"].(string)
	r := Receiver{
		Namespace: namespace, Image: cmp.Or(image, ofBoth, properties[driverImageKey], properties[imageKey]), Mounts: mountsOfProperties(properties),
		PullSecrets: slices.Collect(items(properties[pullSecretsKey])),
	}
	secrets, _ := spec["imagePullSecrets"].([]any)
	for _, secret := range secrets {
		if name, isText := secret.(string); isText {
			r.PullSecrets = append(r.PullSecrets, name)
		}
	}
	r.Mounts = append(r.Mounts, mountsOfPod(spec["volumes"], driver["volumeMounts"])...)
	for _, way := range [][]string{{"driver", "template", "spec"}, {"driverSpec", "podTemplateSpec", "spec"}} {
		pod, _ := within(spec, way...)
		containers, _ := pod["containers"].([]any)
		for _, container := range containers {
			content, _ := container.(map[string]any)
			r.Mounts = append(r.Mounts, mountsOfPod(pod["volumes"], content["volumeMounts"])...)
		}
	}
	return r
}

// mountsOfPod returns the mounts of claims among the mounts of a container.
func mountsOfPod(volumes, mounts any) []ClaimMount {
	claims := map[string]string{}
	each(volumes, func(volume map[string]any) {
		name, _ := volume["name"].(string)
		claim, _ := within(volume, "persistentVolumeClaim")
		claims[name], _ = claim["claimName"].(string)
	})
	var found []ClaimMount
	each(mounts, func(mount map[string]any) {
		name, _ := mount["name"].(string)
		at, _ := mount["mountPath"].(string)
		subPath, _ := mount["subPath"].(string)
		if claims[name] != "" {
			found = append(found, ClaimMount{claims[name], at, subPath})
		}
	})
	return found
}

// each calls a function for each object in a list.
func each(list any, see func(map[string]any)) {
	entries, _ := list.([]any)
	for _, entry := range entries {
		if object, ok := entry.(map[string]any); ok {
			see(object)
		}
	}
}
