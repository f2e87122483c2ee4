package early

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// spellings map paths of the translated application to the paths that the user wrote.
type spellings map[string]string

// of returns findings about the translated application as findings about the user's.
func (s spellings) of(found finding.List) finding.List {
	if len(found) == 0 || len(s) == 0 {
		return found
	}
	var pairs []string
	for _, path := range slices.SortedFunc(maps.Keys(s), func(a, b string) int { // the first one that matches counts
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		pairs = append(pairs, path, s[path])
	}
	replacer := strings.NewReplacer(pairs...)
	given := slices.Clone(found)
	for i := range given {
		f := &given[i]
		f.Field, f.Text = replacer.Replace(f.Field), replacer.Replace(f.Text)
		f.Message, f.Remedy = replacer.Replace(f.Message), replacer.Replace(f.Remedy)
	}
	return given
}

// path returns the path that the user wrote for a path of the translated application.
func (s spellings) path(translated string) string { return cmp.Or(s[translated], translated) }

// spelling is one way to write the value of a field.
type spelling[T any] struct {
	path  string
	value T
}

// written returns the value of the first spelling that has one. If it is not the newest spelling, which is the last, its path replaces
// that of the translated application. The API server refuses two different values.
func written[T any](s spellings, translated string, empty func(T) bool, ways ...spelling[T]) T {
	for i, way := range ways {
		if !empty(way.value) || i == len(ways)-1 {
			if way.path != translated {
				s[translated] = way.path
			}
			return way.value
		}
	}
	panic("a field without a spelling")
}

func noText(text string) bool             { return text == "" }
func noList[T any](list []T) bool         { return len(list) == 0 }
func noMap(values map[string]string) bool { return len(values) == 0 }

// canonical returns a spec in which each field has its newest spelling, and the spellings that it was written in.
func canonical(spec v1alpha1.SparkApplicationSpec) (v1alpha1.SparkApplicationSpec, spellings) {
	s := spellings{}
	spec.SparkConfigMap = written(s, "spec.sparkConfigMap", noText,
		spelling[string]{"spec.sparkConigMap", spec.SparkConigMap}, spelling[string]{"spec.sparkConfigMap", spec.SparkConfigMap})
	spec.HadoopConfigMap = written(s, "spec.hadoopConfigMap", noText,
		spelling[string]{"spec.hadoopConigMap", spec.HadoopConigMap}, spelling[string]{"spec.hadoopConfigMap", spec.HadoopConfigMap})
	spec.Deps.Jars = written(s, "spec.deps.jars", noList[string],
		spelling[[]string]{"spec.deps.jarFiles", spec.Deps.JarFiles}, spelling[[]string]{"spec.deps.jars", spec.Deps.Jars})
	spec.SparkConigMap, spec.HadoopConigMap, spec.Deps.JarFiles = "", "", nil

	driver, executor := &spec.Driver, &spec.Executor
	driver.ConfigMaps = configMaps(s, "driver", driver.DriverConigMaps, driver.DriverConfigMaps, driver.ConfigMaps)
	driver.Secrets = secrets(s, "driver", driver.DriverSecrets, driver.Secrets)
	driver.EnvVars = envVars(s, "driver", driver.DriverEnvVars, driver.EnvVars)
	driver.DriverConigMaps, driver.DriverConfigMaps, driver.DriverSecrets, driver.DriverEnvVars = nil, nil, nil, nil
	executor.ConfigMaps = configMaps(s, "executor", executor.ExecutorConigMaps, executor.ExecutorConfigMaps, executor.ConfigMaps)
	executor.Secrets = secrets(s, "executor", executor.ExecutorSecrets, executor.Secrets)
	executor.EnvVars = envVars(s, "executor", executor.ExecutorEnvVars, executor.EnvVars)
	executor.ExecutorConigMaps, executor.ExecutorConfigMaps, executor.ExecutorSecrets, executor.ExecutorEnvVars = nil, nil, nil, nil
	return spec, s
}

func configMaps(s spellings, role string, first, older, newest []v1alpha1.NamePath) []v1alpha1.NamePath {
	prefix := "spec." + role + "."
	return written(s, prefix+"configMaps", noList[v1alpha1.NamePath],
		spelling[[]v1alpha1.NamePath]{prefix + role + "ConigMaps", first},
		spelling[[]v1alpha1.NamePath]{prefix + role + "ConfigMaps", older},
		spelling[[]v1alpha1.NamePath]{prefix + "configMaps", newest})
}

func secrets(s spellings, role string, first, newest []v1alpha1.SecretInfo) []v1alpha1.SecretInfo {
	prefix := "spec." + role + "."
	found := slices.Clone(written(s, prefix+"secrets", noList[v1alpha1.SecretInfo],
		spelling[[]v1alpha1.SecretInfo]{prefix + role + "Secrets", first},
		spelling[[]v1alpha1.SecretInfo]{prefix + "secrets", newest}))
	given := s.path(prefix + "secrets")
	for i := range found {
		if secret := &found[i]; secret.FirstType != "" {
			s[fmt.Sprintf("%ssecrets[%d].secretType", prefix, i)] = fmt.Sprintf("%s[%d].type", given, i)
			secret.Type, secret.FirstType = secret.FirstType, ""
		}
	}
	return found
}

func envVars(s spellings, role string, first, newest map[string]string) map[string]string {
	prefix := "spec." + role + "."
	return written(s, prefix+"envVars", noMap,
		spelling[map[string]string]{prefix + role + "EnvVars", first},
		spelling[map[string]string]{prefix + "envVars", newest})
}
