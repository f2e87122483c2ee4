package submission

import (
	"strings"
	"testing"
)

func TestPrefixesAndLabelsAreSparks(t *testing.T) {
	const unique = "b0b1b29a1c2d3e4f"
	for name, want := range map[string]struct{ prefix, label string }{
		"Spark Pi":                          {"spark-pi-" + unique, "spark-pi"},
		"org.apache.spark.examples.SparkPi": {"org-apache-spark-examples-sparkpi-" + unique, "org-apache-spark-examples-sparkpi"},
		"123 job":                           {"x23-job-" + unique, "123-job"},
		"--x":                               {"x-" + unique, "x"},
		"_a":                                {"a-" + unique, "a"},
		"é Ünï":                             {"n-" + unique, "n"},
		"İstanbul":                          {"i-stanbul-" + unique, "i-stanbul"},
		"$":                                 {unique, ""},
		"\x01 tab\t":                        {"tab-" + unique, "tab"},
		"":                                  {unique, ""},
	} {
		if got := ResourceNamePrefix(name, unique); got != want.prefix {
			t.Errorf("ResourceNamePrefix(%q) = %q, want %q", name, got, want.prefix)
		}
		if got := appNameLabel(name); got != want.label {
			t.Errorf("appNameLabel(%q) = %q, want %q", name, got, want.label)
		}
	}
}

func TestALabelIsCutAt63AndLosesItsLastHyphen(t *testing.T) {
	name := strings.Repeat("x", 62)
	wantEqual(t, "label", appNameLabel(name+" y"), name)
}

func TestALeadingDigitOfThePrefixIsReplaced(t *testing.T) {
	wantEqual(t, "prefix", ResourceNamePrefix("$", "4c1f889aa56d6000"), "xc1f889aa56d6000")
}
