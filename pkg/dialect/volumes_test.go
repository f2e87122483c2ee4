package dialect_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestCheckVolumesNamesTheEntryAndItsFirstUnknownField(t *testing.T) {
	volumes := make([]corev1.Volume, 12)
	for i := range volumes {
		volumes[i].Name = fmt.Sprintf("v%d", i)
	}
	volumes[2].EmptyDir = &corev1.EmptyDirVolumeSource{}
	found := dialect.CheckVolumes("spec.volumes", volumes, []string{
		`unknown field "spec.volumes[11].first"`,
		`unknown field "spec.volumes[11].second"`,
		`unknown field "spec.volumes[2].more"`,
		`unknown field "spec.volumes[3]"`,
		`unknown field "spec.driver.template.spec.volumes[4].none"`,
		`unknown field "spec.volumes[99].none"`,
	})
	const want = `spec.volumes[11] "v11" has no source that is known and would be an empty directory: ` +
		`correct the spelling of the unknown field "spec.volumes[11].first"`
	if found.String() != want {
		t.Errorf("the refusal is %s, want %s", found, want)
	}
}
