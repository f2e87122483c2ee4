package dialect

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AnnotationDriverConfigMaps chooses whether the executors' pod template of one application has a ConfigMap of its own.
const AnnotationDriverConfigMaps = "firesteel.dev/driver-config-maps"

var driverConfigMaps = choice{annotation: AnnotationDriverConfigMaps, standard: "separate", other: "one"}

// ParseDriverConfigMaps reads whether a driver's properties and its executors' pod template have separate ConfigMaps, or
// one.
func ParseDriverConfigMaps(text string) (one, ok bool) { return driverConfigMaps.parse(text) }

// OneConfigMap reports whether an application's properties and its executors' pod template have one ConfigMap. The
// application's annotation wins over the operator's setting.
func OneConfigMap(app metav1.Object, settings Settings) bool {
	return driverConfigMaps.of(app, settings.OneDriverConfigMap)
}
