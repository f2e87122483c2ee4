package dialect

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// CheckVolumes refuses volumes whose only source is misspelt. Kubernetes makes a volume without a source an empty directory,
// and what the application writes there is lost. field is the path of the list. unknownFields are the decoder's reports.
func CheckVolumes(field string, volumes []corev1.Volume, unknownFields []string) finding.List {
	var found finding.List
	unknown := unknownByIndex(field, unknownFields)
	for i, volume := range volumes {
		index := strconv.Itoa(i)
		if text, reported := unknown[index]; reported && volume.VolumeSource == (corev1.VolumeSource{}) {
			found.Refuse(field+"["+index+"]", volume.Name, "has no source that is known and would be an empty directory",
				"correct the spelling of the "+text)
		}
	}
	return found
}

// unknownByIndex returns the decoder's reports about the entries of a list, by their index. The first report about an entry
// counts.
func unknownByIndex(field string, unknownFields []string) map[string]string {
	byIndex := map[string]string{}
	for _, text := range unknownFields {
		for _, rest := range strings.Split(text, `"`+field+"[")[1:] {
			index, _, closed := strings.Cut(rest, "].")
			if _, known := byIndex[index]; closed && !known {
				byIndex[index] = text
			}
		}
	}
	return byIndex
}
