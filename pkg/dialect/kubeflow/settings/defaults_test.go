package settings_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

func TestDeniedProperties(t *testing.T) {
	none, narrow := settings.Defaults{}, settings.NewDefaults()
	narrow.DeniedProperties = append(narrow.DeniedProperties, "spark.kubernetes.driver.volumes.*", "spark.kubernetes.container.image")
	for name, test := range map[string]struct {
		defaults            settings.Defaults
		key                 string
		denied, discouraged bool
	}{
		"another service account":               {settings.NewDefaults(), "spark.kubernetes.authenticate.driver.serviceAccountName", true, false},
		"a token":                               {settings.NewDefaults(), "spark.kubernetes.authenticate.oauthTokenFile", true, false},
		"a certificate of Spark's own":          {settings.NewDefaults(), "spark.kubernetes.authenticate.caCertFile", false, false},
		"an image":                              {settings.NewDefaults(), "spark.kubernetes.container.image", false, true},
		"an image's pull policy":                {settings.NewDefaults(), "spark.kubernetes.container.image.pullPolicy", false, false},
		"an image where settings deny it":       {narrow, "spark.kubernetes.container.image", true, false},
		"any that begins as settings deny it":   {narrow, "spark.kubernetes.driver.volumes.hostPath.a.mount.path", true, false},
		"one that does not":                     {narrow, "spark.kubernetes.executor.volumes.hostPath.a.mount.path", false, false},
		"anything where settings deny nothing":  {none, "spark.master", false, false},
		"a property that is neither":            {settings.NewDefaults(), "spark.executor.instances", false, false},
		"a property that begins as another one": {settings.NewDefaults(), "spark.masterly", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			denied, discouraged := test.defaults.Denies(test.key), test.defaults.Discourages(test.key)
			if denied != test.denied || discouraged != test.discouraged {
				t.Errorf("%s is denied: %t, discouraged: %t; want %t, %t", test.key, denied, discouraged, test.denied, test.discouraged)
			}
		})
	}
}
