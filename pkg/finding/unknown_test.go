package finding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// app has fields as manifests have them.
type app struct {
	Header `json:",inline"`
	Spec   struct {
		MainClass string `json:"mainClass"`
		Roles     []role `json:"roles,omitempty"`
		Driver    *role  `json:"driver"`
	} `json:"spec"`
}

type Header struct {
	Kind string `json:"kind"`
}

type role struct {
	ServiceAccount string   `json:"serviceAccount"`
	Args           []string `json:"driverArgs"`
	Template       struct {
		Spec struct {
			Volumes []string `json:"volumes"`
		} `json:"spec"`
	} `json:"template"`
}

func TestUnknownFieldsNameTheOneThatIsMeant(t *testing.T) {
	for field, want := range map[string]finding.Finding{
		"kid":                                 {Meant: "kind", Remedy: "correct its spelling to kind"},
		"spec.mainclass":                      {Meant: "spec.mainClass", Remedy: "correct its spelling to mainClass"},
		"spec.mianClass":                      {Meant: "spec.mainClass", Remedy: "correct its spelling to mainClass"},
		"spec.driver.serviceAccountName":      {Meant: "spec.driver.serviceAccount", Remedy: "correct its spelling to serviceAccount"},
		"spec.driver.driverArguments":         {Meant: "spec.driver.driverArgs", Remedy: "correct its spelling to driverArgs"},
		"spec.roles[3].template.spec.volume":  {Meant: "spec.roles[3].template.spec.volumes", Remedy: "correct its spelling to volumes"},
		"spec.driver.spec":                    {Meant: "spec.driver.template.spec", Remedy: "move it to template.spec"},
		"spec.driver.extraArgs":               {Remedy: "correct its spelling or its place"},
		"spec.sparkMainClass":                 {Meant: "spec.mainClass", Remedy: "correct its spelling to mainClass"},
		"spec.driver.tempalte":                {Meant: "spec.driver.template", Remedy: "correct its spelling to template"},
		"spec.driver.cores":                   {Remedy: "correct its spelling or its place"},
		"spec.mainClass.name":                 {Remedy: "correct its spelling or its place"},
		"spec.absent.name":                    {Remedy: "correct its spelling or its place"},
		"spec.serviceAccount":                 {Remedy: "correct its spelling or its place"}, // of a role, but not known of which
		"spec.driver.template.spec.container": {Remedy: "correct its spelling or its place"},
	} {
		var list finding.List
		list.WarnOfUnknown([]string{`unknown field "` + field + `"`}, &app{})
		want.Severity, want.Field, want.Text = finding.Warning, field, `unknown field "`+field+`" is dropped`
		if diff := cmp.Diff(finding.List{want}, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
}
