package early

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Manifest returns what the admin's rules read of an application. They read it as it is written, and not what runs in its place.
func Manifest(app *v1alpha1.SparkApplication, s Settings) *policy.Manifest {
	spec := app.Spec
	p := policy.Properties{Given: spec.SparkConf, Defaults: s.Properties}
	m := &policy.Manifest{
		Labels:   app.Labels,
		Driver:   roleOf("driver", p, spec.Driver.Memory, spec.Driver.Cores),
		Executor: roleOf("executor", p, spec.Executor.Memory, spec.Executor.Cores),
		Executors: policy.ExecutorsOf(p, policy.ExecutorFields{
			Instances: policy.NumberOf("spec.executor.instances", spec.Executor.Instances), Otherwise: strconv.Itoa(submission.DefaultExecutors),
		}),
	}
	m.AddImages(policy.FieldOf("spec.driver.image", spec.Driver.Image), policy.FieldOf("spec.executor.image", spec.Executor.Image))
	m.AddImageProperties(p, slices.Concat(policy.ImageKeys, policy.EarlyImageKeys)...)
	m.AddHostPathProperties(p)
	m.AddPropertyKeys(p)
	m.Properties = append(m.Properties, namesToday(spec.SparkConf)...)
	return m
}

func roleOf(role string, p policy.Properties, memory *string, cores *v1alpha1.Cores) *policy.Role {
	return policy.RoleOf(role, p, policy.RoleFields{
		Memory:      policy.FieldOf("spec."+role+".memory", ptr.Deref(memory, "")),
		Cores:       policy.FieldOf("spec."+role+".cores", string(ptr.Deref(cores, ""))),
		OldOverhead: "spark.kubernetes." + role + ".memoryOverhead",
	})
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
		if prefix, annotation := annotationPrefix(key); prefix != "" {
			add(prefix + annotation)
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
