package dialect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func annotated(name, value string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Annotations: map[string]string{name: value}}
}

func TestTimeLimitAnnotationWinsOverTheSetting(t *testing.T) {
	const name = dialect.AnnotationDriverStart
	setting := dialect.Bound{Limit: time.Minute, Source: "the setting"}
	for value, want := range map[string]dialect.Bound{
		"10m": {Limit: 10 * time.Minute, Source: "the annotation " + name}, "90s\n": {Limit: 90 * time.Second, Source: "the annotation " + name},
		"87600h": {Limit: dialect.MaxBound, Source: "the annotation " + name}, "0s": {}, "0": {},
		"": setting, "ten": setting, "10": setting, "-1s": setting, "87601h": setting, "9223372036854775807h": setting, "1e9h": setting, "NaN": setting,
	} {
		if got := dialect.BoundOf(annotated(name, value), name, setting); got != want {
			t.Errorf("%q: %+v, want %+v", value, got, want)
		}
		ignored := want == setting
		if said := dialect.AnnotationWarnings(annotated(name, value)).Sentences(); ignored != (len(said) == 1) {
			t.Errorf("%q: said %q", value, said)
		}
	}
	if got := dialect.BoundOf(&metav1.ObjectMeta{}, name, dialect.Bound{Source: "a setting that is off"}); got != (dialect.Bound{}) {
		t.Errorf("a setting that is off became %+v", got)
	}
}

func TestAnnotationsWithoutEffectAreNamed(t *testing.T) {
	given := &metav1.ObjectMeta{Annotations: map[string]string{
		dialect.AnnotationActiveDeadline:       strings.Repeat("x", 100_000),
		dialect.AnnotationExecutorsStart:       "-5m",
		"firesteel.dev/executor-start-timeout": "5m",
		"firesteel.dev/scheduled-time":         "2026-01-01T00:00:00Z",
		"example.com/driver-start-timeout":     "any",
	}}
	want := []string{
		`metadata.annotations[firesteel.dev/active-deadline] "` + strings.Repeat("x", 59) +
			`..." has no effect, it is no time from 0s to 87600h0m0s: write one such as 10m, or 0s for no limit.`,
		`metadata.annotations[firesteel.dev/executor-start-timeout] has no effect, there is no such annotation: write one of ` +
			`firesteel.dev/driver-start-timeout, firesteel.dev/executors-start-timeout, firesteel.dev/active-deadline.`,
		`metadata.annotations[firesteel.dev/executors-start-timeout] "-5m" has no effect, it is no time from 0s to 87600h0m0s: ` +
			`write one such as 10m, or 0s for no limit.`,
	}
	if diff := cmp.Diff(want, dialect.AnnotationWarnings(given).Sentences()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestWantedExecutors(t *testing.T) {
	const instances, dynamic, least = "spark.executor.instances", "spark.dynamicAllocation.enabled", "spark.dynamicAllocation.minExecutors"
	for name, test := range map[string]struct {
		properties map[string]string
		want       int
	}{
		"nothing said":                       {nil, 2},
		"a number":                           {map[string]string{instances: " 5 "}, 5},
		"none":                               {map[string]string{instances: "0"}, 0},
		"a number that is none":              {map[string]string{instances: "many"}, 0},
		"a number below zero":                {map[string]string{instances: "-3"}, 0},
		"one that no driver can ask for":     {map[string]string{instances: "99999999999999999999"}, 0},
		"a minimum":                          {map[string]string{instances: "5", dynamic: "TRUE", least: "3"}, 3},
		"no minimum":                         {map[string]string{instances: "5", dynamic: "true"}, 0},
		"a minimum without what it is for":   {map[string]string{least: "3"}, 2},
		"a driver that does the work itself": {map[string]string{instances: "5", "spark.kubernetes.driver.master": "local[*]"}, 0},
	} {
		if got := dialect.WantedExecutors(func(key string) string { return test.properties[key] }, 2); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
