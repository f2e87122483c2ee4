package submission

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestReferencesToOtherPropertiesAreReplaced(t *testing.T) {
	for name, row := range map[string]struct {
		properties []string
		want       string
	}{
		"one":                            {[]string{"spark.kubernetes.container.image=${spark.a}", "spark.a=x"}, "x"},
		"in the middle":                  {[]string{"spark.kubernetes.container.image=r/${spark.a}:1", "spark.a=x"}, "r/x:1"},
		"one within another":             {[]string{"spark.kubernetes.container.image=${spark.a}", "spark.a=${spark.b}", "spark.b=y"}, "y"},
		"the same twice":                 {[]string{"spark.kubernetes.container.image=${spark.a}${spark.a}", "spark.a=x"}, "xx"},
		"one to Spark's default":         {[]string{"spark.kubernetes.container.image=x:${spark.driver.cores}"}, "x:1"},
		"one to a default by another":    {[]string{"spark.kubernetes.container.image=x:${spark.driver.blockManager.port}", "spark.blockManager.port=7"}, "x:7"},
		"but not those to nothing":       {[]string{"spark.kubernetes.container.image=x${spark.missing}"}, "x${spark.missing}"},
		"but not those to other sources": {[]string{"spark.kubernetes.container.image=${other}${x:y}"}, "${other}${x:y}"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, pi(row.properties...))
			wantEqual(t, "image", driverOf(objects).Image, row.want)
			_, raw, _ := strings.Cut(row.properties[0], "=")
			wantEqual(t, "property", propertiesOf(t, objects)["spark.kubernetes.container.image"], raw)
		})
	}
}

func TestReferencesThatCannotBeReplacedAreRefused(t *testing.T) {
	const image = "spark.kubernetes.container.image="
	for name, properties := range map[string][]string{
		"to the environment":      {image + "${env:IMAGE}"},
		"to a system property":    {image + "${system:user.name}"},
		"to itself":               {image + "${spark.kubernetes.container.image}"},
		"to itself as a default":  {image + "${spark.kubernetes.driver.container.image}"},
		"to itself in two steps":  {image + "${spark.a}", "spark.a=${spark.b}", "spark.b=${spark.a}"},
		"to more than fit a line": bomb(image),
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, pi(properties...), "spark.kubernetes.container.image", "${")
		})
	}
}

// bomb returns properties that double a value thirty times.
func bomb(first string) []string {
	properties := []string{first + "${spark.x0}"}
	for i := range 30 {
		properties = append(properties, fmt.Sprintf("spark.x%d=${spark.x%d}${spark.x%d}", i, i+1, i+1))
	}
	return append(properties, "spark.x30=boom")
}

func TestReferencesInMapsStayAsTheyAre(t *testing.T) {
	objects := mustBuild(t, pi("spark.kubernetes.driver.annotation.a=${env:HOME}"))
	wantEqual(t, "annotation", objects.Driver.Annotations["a"], "${env:HOME}")
}

func TestSizesAreReadAsSparkReadsThem(t *testing.T) {
	for text, want := range map[string]int64{
		"1g": 1 << 30, "1G": 1 << 30, " 1gb ": 1 << 30, "512m": 512 << 20, "1536k": 1536 << 10, "7b": 7, "2t": 2 << 40,
		"1p": 1 << 50, "1024": 1024 << 20, "1.5g": -1, "1 g": -1, "2Gi": -1, "g": -1, "-1m": -1, "1x": -1, "": -1,
		"1gbb": -1, "1bb": -1, "99999999999999999999m": -1, "9999999999999p": -1,
	} {
		size, ok := parseSize(text, false)
		if ok != (want >= 0) || ok && size != want {
			t.Errorf("parseSize(%q) = %d %t, want %d", text, size, ok, want)
		}
	}
}

func TestBinaryUnitsAreReadWhereSparkKnowsThem(t *testing.T) {
	for text, want := range map[string]int64{
		"2Gi": 2 << 30, "2GiB": 2 << 30, "2g": 2 << 30, "3mi": 3 << 20, "4kib": 4 << 10, "1i": -1, "1ib": -1, "1gib b": -1,
	} {
		size, ok := parseSize(text, true)
		if ok != (want >= 0) || ok && size != want {
			t.Errorf("parseSize(%q) = %d %t, want %d", text, size, ok, want)
		}
	}
}

func TestFactorsAreReadAsJavaReadsDoubles(t *testing.T) {
	for text, want := range map[string]float64{
		"0.1": 0.1, "1": 1, "2.5e-1": 0.25, ".5": 0.5, "3.": 3, "1d": 1, "1.5F": 1.5, "0x1p-2": 0.25, "+1": 1, "-0.0": 0,
		"1e400": math.Inf(1), "Infinity": math.Inf(1), "": -1, "inf": -1, "1_0": -1, "NaN": -1, "-1": -1, "10%": -1, "0x10": -1, "1e": -1,
	} {
		number, ok := parseFactor(text)
		if ok != (want >= 0) || ok && number != want {
			t.Errorf("parseFactor(%q) = %g %t, want %g", text, number, ok, want)
		}
	}
}

func TestQuantityThatTakesHoursToParseIsRefused(t *testing.T) {
	for _, text := range []string{"1e-2147483647", "1E999999999", "1e-000100"} {
		if _, ok := parseQuantity(text); ok {
			t.Errorf("%s was read", text)
		}
	}
	wantRefused(t, pi(limitCoresKey+"=1e-2147483647"), limitCoresKey)
}

func TestNumbersAreWrittenAsJavaWritesDoubles(t *testing.T) {
	for number, want := range map[float64]string{
		0: "0.0", 0.1: "0.1", 0.4: "0.4", 1: "1.0", 1e-4: "1.0E-4", 0.001: "0.001", 1.5e-5: "1.5E-5", 12345.678: "12345.678",
		math.Inf(1): "Infinity", 1e7: "1.0E7", 9999999: "9999999.0", 1.25e10: "1.25E10",
	} {
		if got := javaDouble(number); got != want {
			t.Errorf("javaDouble(%g) = %q, want %q", number, got, want)
		}
	}
}
