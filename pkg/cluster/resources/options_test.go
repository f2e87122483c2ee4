package resources_test

import (
	"maps"
	"math/rand"
	"strings"
	"testing"
	"time"
	"unicode"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// TestAnyPropertyReachesTheDaemons asserts that the JVM gets every property unchanged, whatever its name and value,
// and nothing else.
func TestAnyPropertyReachesTheDaemons(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewSource(seed))
	for range 2000 {
		conf := map[string]string{}
		for range rng.Intn(5) {
			name := strings.ReplaceAll(anyText(rng), "=", "") // with an equals sign it is another property
			conf["spark."+name] = anyText(rng)
		}
		if !reaches(t, conf) {
			return
		}
	}
}

func TestOddPropertiesReachTheDaemons(t *testing.T) {
	for _, value := range []string{
		``, ` `, `"`, `\`, `'`, `a" -Dspark.b="c`, `$(id)`, "`id`", `$$HOME`, `$(SPARK_HOME)`, "a\nb", `a\"b`, `"; rm -rf / #`, `{"a": 1}`,
	} {
		if !reaches(t, map[string]string{"spark.a": value}) {
			return
		}
	}
}

func TestPropertyWithAnEqualsSignInItsNameIsReported(t *testing.T) {
	c := cluster(t, "")
	c.Spec.SparkConf = map[string]string{"spark.a": "b=c", "spark.a=b": "c"}
	if got := OverruledOf(c).Sentences(); len(got) != 1 || !strings.Contains(got[0], "spec.sparkConf[spark.a=b] has an equals sign in its name") {
		t.Errorf("reported is %q", got)
	}
}

func reaches(t *testing.T, conf map[string]string) bool {
	t.Helper()
	c := cluster(t, "")
	c.Spec.SparkConf = conf
	objects, err := Build(c, Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"spark.shuffle.service.enabled": "true", "spark.worker.preferConfiguredMasterAddress": "true",
	}
	maps.Copy(want, conf)
	want["spark.kubernetes.namespace"] = "spark"
	text := environment(containerOf(objects.Worker, "worker"))["SPARK_WORKER_OPTS"]
	got := map[string]string{}
	for _, option := range launcherReads(kubeletExpands(text)) {
		name, isProperty := strings.CutPrefix(option, "-D")
		if !isProperty {
			t.Errorf("%q is an option of the JVM", option)
			return false
		}
		key, value, _ := strings.Cut(name, "=")
		got[key] = value
	}
	if !maps.Equal(got, want) {
		t.Errorf("the JVM gets %q of %q, by %s", got, want, text)
		return false
	}
	return true
}

func anyText(rng *rand.Rand) string {
	const letters = "ab.$(){}\"'\\ \t\n;|&`#=é"
	runes := []rune(letters)
	text := make([]rune, rng.Intn(12))
	for i := range text {
		text[i] = runes[rng.Intn(len(runes))]
	}
	return string(text)
}

// kubeletExpands expands a variable's value as the kubelet does if every name is known.
func kubeletExpands(value string) string {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		switch {
		case strings.HasPrefix(value[i:], "$$"):
			out.WriteByte('$')
			i++
		case strings.HasPrefix(value[i:], "$(") && strings.Contains(value[i:], ")"):
			out.WriteString("EXPANDED")
			i += strings.Index(value[i:], ")")
		default:
			out.WriteByte(value[i])
		}
	}
	return out.String()
}

// launcherReads splits a text as Spark's launcher does: by a shell's rules for quotes and backslashes.
func launcherReads(text string) []string {
	var options []string
	var option strings.Builder
	inside, single, double, escaped := false, false, false, false
	for _, r := range text {
		switch {
		case escaped:
			option.WriteRune(r)
			escaped = false
		case r == '\\' && !single:
			inside, escaped = true, true
		case r == '\'' && !double:
			inside, single = true, !single
		case r == '"' && !single:
			inside, double = true, !double
		case unicode.IsSpace(r) && !single && !double:
			if inside {
				options = append(options, option.String())
				option.Reset()
				inside = false
			}
		default:
			option.WriteRune(r)
			inside = true
		}
	}
	if inside {
		options = append(options, option.String())
	}
	return options
}
