package config

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Early holds the settings of config-early. Those of config-kubeflow complete them, except the denied properties: config-admission has them.
type Early struct {
	ImageReplacements []early.ImageReplacement
	SparkVersion      string
	UIServiceType     corev1.ServiceType
	UIGateway         *dialect.Gateway
	UIURLFormat       string
}

// OfEarly returns the settings of the applications of spark-operator.k8s.io.
func (c *Config) OfEarly() early.Settings {
	defaults := c.OfKubeflow()
	defaults.DeniedProperties = nil // config-admission has those of this API
	return early.Settings{
		Defaults:          defaults,
		ImageReplacements: c.Early.ImageReplacements, SparkVersion: c.Early.SparkVersion, UIServiceType: c.Early.UIServiceType,
		UIGateway: c.Early.UIGateway, UIURLFormat: c.Early.UIURLFormat,
	}
}

// NewEarly reads config-early.
func NewEarly(configMap *corev1.ConfigMap) (*Early, error) {
	defaults := Early{UIServiceType: early.NewSettings().UIServiceType}
	err := Keys{
		"image-replacements": func(key, value string) (err error) {
			defaults.ImageReplacements, err = imageReplacements(key, value)
			return err
		},
		"spark-version": func(key, value string) error {
			defaults.SparkVersion = strings.TrimSpace(value)
			if _, known := submission.RulesFor(defaults.SparkVersion); defaults.SparkVersion != "" && !known {
				return InvalidValue(key, value, "write a version of Spark such as 3.5.7, or nothing for the newest")
			}
			return nil
		},
		"ui-service-type": uiServiceType(&defaults.UIServiceType),
		"ui-gateway":      gateway(&defaults.UIGateway, &defaults.UIURLFormat),
	}.Read(EarlyName, configMap)
	if err != nil {
		return nil, err
	}
	return &defaults, nil
}

// maxReplacements bounds the time that an image takes to be looked up.
const maxReplacements = 64

// imageReplacements reads pairs of a pattern and an image, separated by white space or commas.
func imageReplacements(key, value string) ([]early.ImageReplacement, error) {
	const remedy = "write up to 64 pairs PATTERN=IMAGE such as kubespark/*=spark:3.5.7, one a line"
	pairs := policy.SplitList(value)
	if len(pairs) > maxReplacements {
		return nil, InvalidValue(key, value, fmt.Sprintf("%s (there are %d)", remedy, len(pairs)))
	}
	var replacements []early.ImageReplacement
	for _, pair := range pairs {
		pattern, image, ok := strings.Cut(pair, "=")
		if !ok || pattern == "" || image == "" || strings.ContainsAny(image, "*=") {
			return nil, InvalidValue(key, value, fmt.Sprintf("%s (%q is none)", remedy, clip(pair)))
		}
		replacements = append(replacements, early.ImageReplacement{Pattern: pattern, Image: image})
	}
	return replacements, nil
}
