package config_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

// data is the content of a config map, with the example that each of them carries.
func data(pairs ...string) *corev1.ConfigMap {
	configMap := &corev1.ConfigMap{Data: map[string]string{"_example": "restart: nowhere"}}
	for i := 0; i < len(pairs); i += 2 {
		configMap.Data[pairs[i]] = pairs[i+1]
	}
	return configMap
}

func named(name string, configMap *corev1.ConfigMap) *corev1.ConfigMap {
	configMap.ObjectMeta = metav1.ObjectMeta{Name: name}
	return configMap
}

func TestDefaults(t *testing.T) {
	for name, test := range map[string]struct {
		given *corev1.ConfigMap
		want  string
	}{
		"no image":                {data(), ""},
		"an image":                {data("image", "example.org/spark:{{SPARK_VERSION}}"), "example.org/spark:{{SPARK_VERSION}}"},
		"what is not known":       {data("color", "blue"), ""},
		"a config map of nothing": {&corev1.ConfigMap{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewDefaults(test.given)
			if err != nil || got.Image != test.want {
				t.Errorf("image is %q, %v; want %q", got.Image, err, test.want)
			}
		})
	}
}

func TestHandlers(t *testing.T) {
	for name, test := range map[string]struct {
		given     *corev1.ConfigMap
		inProcess bool
		refusal   string
	}{
		"in-process where nothing is said": {data(), true, ""},
		"in-process where another is said": {data("ttl", "external"), true, ""},
		"in-process":                       {data("restart", "in-process"), true, ""},
		"external":                         {data("restart", "external"), false, ""},
		"neither": {
			data("restart", "External"), true, `config-handlers: restart is "External": write in-process or external`,
		},
		"a handler that there is not": {
			data("restrat", "external"), true, `config-handlers: there is no handler "restrat": write one of [restart ttl]`,
		},
		"nothing": {data("restart", ""), true, `config-handlers: restart is "": write in-process or external`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewHandlers(test.given)
			if test.refusal != "" {
				if err == nil || err.Error() != test.refusal {
					t.Errorf("error is %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil || got.InProcess("restart") != test.inProcess {
				t.Errorf("restart runs in-process: %t, %v; want %t", got.InProcess("restart"), err, test.inProcess)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	for name, test := range map[string]struct {
		given   *corev1.ConfigMap
		grace   time.Duration
		refusal string
	}{
		"five minutes where nothing is said": {data(), 5 * time.Minute, ""},
		"a grace":                            {data("deletion-grace", "90s"), 90 * time.Second, ""},
		"none":                               {data("deletion-grace", "0s"), 0, ""},
		"below zero":                         {data("deletion-grace", "-1s"), 0, "config-events: deletion-grace is -1s: it cannot be below zero"},
		"without a unit":                     {data("deletion-grace", "5"), 0, "config-events: "},
		"no time":                            {data("deletion-grace", "soon"), 0, "config-events: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewEvents(test.given)
			if test.refusal != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.refusal) {
					t.Errorf("error is %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil || got.DeletionGrace != test.grace {
				t.Errorf("grace is %v, %v; want %s", got, err, test.grace)
			}
		})
	}
}

func TestStoreFollowsTheConfigMaps(t *testing.T) {
	var changed []string
	store := config.NewStore(logtesting.TestLogger(t), func(name string, _ any) { changed = append(changed, name) })
	before := store.Load()
	if before.Defaults.Image != "" || !before.Handlers.InProcess("restart") || before.Events.DeletionGrace != 5*time.Minute {
		t.Errorf("what was never read has not its defaults: %+v", before)
	}
	store.OnConfigChanged(named(config.HandlersName, data("restart", "external")))
	store.OnConfigChanged(named(config.DefaultsName, data("image", "ours")))
	store.OnConfigChanged(named(config.EventsName, data("deletion-grace", "1m")))
	after := config.FromContext(store.ToContext(context.Background()))
	if after.Defaults.Image != "ours" || after.Handlers.InProcess("restart") || after.Events.DeletionGrace != time.Minute {
		t.Errorf("the config maps are not followed: %+v", after)
	}
	if !before.Handlers.InProcess("restart") {
		t.Error("a snapshot changed")
	}
	want := []string{config.HandlersName, config.DefaultsName, config.EventsName}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
}

func TestStoreKeepsWhatItHadOverWhatItCannotRead(t *testing.T) {
	// Knative's store would end the process for a mistake at its start, and logs later ones as errors.
	store := config.NewStore(quiet{})
	store.OnConfigChanged(named(config.HandlersName, data("restart", "external")))
	store.OnConfigChanged(named(config.HandlersName, data("restart", "both")))
	if store.Load().Handlers.InProcess("restart") {
		t.Error("a mistake in the config map put the default in the place of what it said before")
	}
}

type quiet struct{}

func (quiet) Debugf(string, ...any) {}
func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

func TestContextWithoutConfig(t *testing.T) {
	if got := config.FromContext(context.Background()); got != nil {
		t.Errorf("a context has a configuration that nobody attached: %+v", got)
	}
}
