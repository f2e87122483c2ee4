package early

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

// Settings are the operator's settings for the applications of this API.
type Settings struct {
	// Defaults are the settings of config-kubeflow.
	settings.Defaults
	// ImageReplacements are the images that run in the place of others. The first one that matches counts.
	ImageReplacements []ImageReplacement
	// SparkVersion is the version of Spark in images whose tags name none. If it is empty, it is the newest that Firesteel knows.
	SparkVersion string
	// UIServiceType is the type of the Service of a driver's UI: NodePort or ClusterIP.
	UIServiceType corev1.ServiceType
	// UIGateway is where routes to drivers' UIs lead from; nil for no routes.
	UIGateway *dialect.Gateway
	// UIURLFormat is the URL of a driver's UI by that Gateway: a host and a path, with the placeholders of settings.Ingress.
	UIURLFormat string

	// last is what a Dialect translated last; nil if every question translates anew.
	last *lastTranslation
}

// NewSettings returns the settings of an operator without settings.
func NewSettings() Settings {
	return Settings{Defaults: settings.NewDefaults(), UIServiceType: corev1.ServiceTypeNodePort}
}

// settingsMap is the ConfigMap with the settings that only this API has.
const settingsMap = "config-early"

// ImageReplacement replaces images.
type ImageReplacement struct {
	// Pattern is the name of an image. A star stands for any characters.
	Pattern string
	// Image runs in its place.
	Image string
}

// replaced returns the image that runs in the place of another, and whether there is one.
func (s Settings) replaced(image string) (string, bool) {
	at := slices.IndexFunc(s.ImageReplacements, func(r ImageReplacement) bool { return matches(r.Pattern, image) })
	if at < 0 {
		return image, false
	}
	return s.ImageReplacements[at].Image, true
}

// matches reports whether a pattern with stars is about a text. Go's regular expressions take linear time.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	matched, err := regexp.MatchString("^"+strings.Join(parts, ".*")+"$", text)
	return err == nil && matched
}

// ofKubeflow returns the settings for the translated application, which has no UI of its own: this API makes its Service. An image for both
// roles is named by a property: this API has no field for it.
func (s Settings) ofKubeflow() settings.Defaults {
	defaults := s.Defaults
	defaults.DiscouragedProperties = slices.DeleteFunc(slices.Clone(defaults.DiscouragedProperties), func(key string) bool { return key == imageKey })
	defaults.UIService, defaults.UIServiceType, defaults.Ingress = false, "", settings.Ingress{}
	return defaults
}
