package hostile_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/test/hostile"
)

// What was found once, and is too large for the corpus of FuzzObjects.
func TestFoundManifestsAreCheap(t *testing.T) {
	short := map[string]any{}
	for i := range 130_000 {
		short[strconv.FormatInt(int64(i), 36)] = ""
	}
	steps := map[string]any{"sparkConf": map[string]any{
		"spark.kubernetes.driver.pod.excludedFeatureSteps": strings.Repeat(",a", 600_000),
		"spark.kubernetes.driver.pod.featureSteps":         strings.Repeat(",a", 60_000),
	}}
	routes := make([]any, 22_000)
	for i := range routes {
		routes[i] = map[string]any{"serviceMetadata": map[string]any{"name": "v"}, "serviceSpec": map[string]any{"ports": []any{}}}
	}
	var lists any = []any{}
	for range 9_900 {
		lists = []any{lists}
	}
	for what, spec := range map[string]any{
		"lists in lists":          map[string]any{"driverGrpcRouteList": []any{map[string]any{"grpcRouteSpec": map[string]any{"rules": lists}}}},
		"steps that are left out": steps,
		"Hadoop's properties":     map[string]any{"hadoopConf": short},
		"routes":                  map[string]any{"driverGrpcRouteList": routes, "none": 1}, // which is decoded twice
		"fewer ingresses":         map[string]any{"driverServiceIngressList": routes[:14_000], "none": 1},
	} {
		for _, k := range hostile.Kinds[:2] {
			t.Run(what+" of "+k.String(), func(t *testing.T) { wantCheap(t, k, k.With(spec)) })
		}
	}
}
