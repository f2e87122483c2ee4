package early

import (
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Manifest returns what the admin's rules read of an application. They read it as it is written, and not what runs in its place.
func Manifest(app *v1alpha1.SparkApplication, s Settings) *policy.Manifest {
	spec := app.Spec
	p := policy.Properties{Given: spec.SparkConf, Defaults: s.Properties, Settings: "the operator's default"}
	m := &policy.Manifest{
		Labels: app.Labels,
		Driver: policy.RoleOf("driver", p, policy.RoleFields{
			Memory: optionalText("spec.driver.memory", spec.Driver.Memory), Cores: optionalText("spec.driver.cores", spec.Driver.Cores),
			OldOverhead: "spark.kubernetes.driver.memoryOverhead",
		}),
		Executor: policy.RoleOf("executor", p, policy.RoleFields{
			Memory: optionalText("spec.executor.memory", spec.Executor.Memory), Cores: optionalText("spec.executor.cores", spec.Executor.Cores),
			OldOverhead: "spark.kubernetes.executor.memoryOverhead",
		}),
		Executors: policy.ExecutorsOf(p, policy.ExecutorFields{
			Instances: policy.NumberOf("spec.executor.instances", spec.Executor.Instances), Otherwise: "2",
		}),
	}
	m.AddImages(policy.FieldOf("spec.driver.image", spec.Driver.Image), policy.FieldOf("spec.executor.image", spec.Executor.Image))
	m.AddProperties(p, slices.Concat(policy.ImageKeys, policy.EarlyImageKeys())...)
	m.Properties = append(m.Properties, namesToday(spec.SparkConf)...)
	return m
}

func optionalText[T ~string](field string, text *T) *policy.Value {
	if text == nil {
		return nil
	}
	return policy.FieldOf(field, string(*text))
}

// namesToday returns the names that properties of 2017 have today.
func namesToday(conf map[string]string) []policy.Value {
	var named []policy.Value
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		add := func(name string) {
			named = append(named, policy.Value{Field: finding.Entry(confField, key), Text: name})
		}
		if today := policy.EarlyRenamed[key]; today != "" {
			add(today)
		}
		for old, today := range policy.EarlyPrefixes {
			if name, ok := strings.CutPrefix(key, old); ok {
				add(today + name)
			}
		}
		if today := policy.EarlyLists[key]; today != "" {
			for _, entry := range strings.Split(conf[key], ",") {
				if name, _, _ := strings.Cut(strings.TrimSpace(entry), "="); strings.TrimSpace(entry) != "" {
					add(today + name)
				}
			}
		}
	}
	return named
}
