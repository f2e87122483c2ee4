package submission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestExecutorsThatNoDriverCanCreateAreFound(t *testing.T) {
	const enabled, least, most = "spark.dynamicAllocation.enabled", "spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.maxExecutors"
	const amount, vendor = "spark.executor.resource.gpu.amount", "spark.executor.resource.gpu.vendor"
	for name, test := range map[string]struct {
		properties map[string]string
		want       []string
	}{
		"nothing":                        {nil, nil},
		"a minimum below the maximum":    {map[string]string{enabled: "true", least: "2", most: "5"}, nil},
		"a minimum alone":                {map[string]string{enabled: "true", least: "2"}, nil},
		"without dynamic allocation":     {map[string]string{least: "5", most: "2"}, nil},
		"a number that Build refuses":    {map[string]string{enabled: "true", least: "many", most: "2"}, nil},
		"a device and whose it is":       {map[string]string{amount: "1", vendor: "nvidia.com"}, nil},
		"a minimum above the maximum":    {map[string]string{enabled: "true", least: "5", most: "2"}, []string{least + " 5 is more than the 2 of " + most + ", and the driver ends with that error: lower it, or raise that."}},
		"no executor":                    {map[string]string{enabled: "true", most: "0"}, []string{most + " 0 allows no executor, and the driver ends with that error: write a number from 1 on, or leave it out."}},
		"a device, and not whose it is":  {map[string]string{amount: "1"}, []string{amount + ` "1" needs ` + vendor + " as well, and the driver cannot create executors without it: name whose device it is, such as nvidia.com."}},
		"a script for devices of nobody": {map[string]string{"spark.executor.resource.gpu.discoveryScript": "/a.sh"}, nil},
	} {
		found := submission.CheckExecutors(submission.Plan{SparkVersion: "4.1.0", Properties: test.properties})
		if diff := cmp.Diff(test.want, found.Sentences()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
