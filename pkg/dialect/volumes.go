package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// CheckVolumes refuses volumes whose only source is misspelt. Kubernetes makes an empty directory of a volume without a
// source, and what the application writes there is lost. field is the list's; unknownFields are what the decoder reports.
func CheckVolumes(field string, volumes []corev1.Volume, unknownFields []string) error {
	var errs []error
	for i, volume := range volumes {
		if volume.VolumeSource != (corev1.VolumeSource{}) {
			continue
		}
		entry := fmt.Sprintf("%s[%d]", field, i)
		if at := slices.IndexFunc(unknownFields, func(text string) bool { return strings.Contains(text, `"`+entry+".") }); at >= 0 {
			errs = append(errs, &submission.FieldError{
				Field: entry, Value: volume.Name, Problem: "has no source that is known and would be an empty directory",
				Remedy: "correct the spelling of the " + unknownFields[at],
			})
		}
	}
	return errors.Join(errs...)
}
