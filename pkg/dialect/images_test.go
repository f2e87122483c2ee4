package dialect_test

import (
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestTheTagOfAnImageNamesTheVersionOfSpark(t *testing.T) {
	for image, want := range map[string]string{
		"spark:3.5.7": "3.5.7",
		"registry.example.com:5000/team/spark:v4.0.1": "4.0.1",
		"apache/spark:scala2.12-java17-4.1.0":         "4.1.0",
		"spark:4.2@sha256:abcd":                       "4.2",
		"registry.example.com:5000/3.5.7/spark":       "",
		"spark:latest":                                "",
		"app:1.4.2":                                   "",
		"spark":                                       "",
		"":                                            "",
		"spark:" + strings.Repeat("9", 1000) + ".3.5": "",
	} {
		if got := dialect.ImageVersion(image); got != want {
			t.Errorf("%.64q names %q, want %q", image, got, want)
		}
	}
}

func TestImagesOfSpark2AreTooOld(t *testing.T) {
	for image, want := range map[string]bool{
		"kubespark/spark-driver:v2.2.0-kubernetes-0.5.0":     true,
		"registry.example.com/kubespark/spark-driver:latest": true,
		"gcr.io/spark-operator/spark:v2.3.1":                 true,
		"team/spark-py:v2.2.0-kubernetes-0.4.0":              true,
		"team/spark-py:branch-k8s-2":                         true,
		"spark:2.3":                                          true,
		"spark:2.4.5":                                        true,
		"team/spark-etl:1.12":                                true,
		"spark:12.4":                                         false,
		"apache/spark:3.5.7":                                 false,
		"team/report:2.1.0":                                  false,
		"spark:22.3":                                         false,
		"spark":                                              false,
		"kubespark/" + strings.Repeat("x", 1000) + ":v2.2.0":          false,
		"registry.example.com:5000/spark/report@sha256:" + "abcdefab": false,
	} {
		if got := dialect.IsImageTooOld(image, ""); got != want {
			t.Errorf("%.64q is too old: %t, want %t", image, got, want)
		}
	}
}

func TestImageWhoseVersionIsSaidMayHaveATagOfItsOwn(t *testing.T) {
	for image, want := range map[string]bool{
		"team/spark-etl:1.12":                            false,
		"team/spark-etl:4.1-k8s-1.34":                    false,
		"kubespark/spark-driver:v2.2.0-kubernetes-0.5.0": true,
	} {
		if got := dialect.IsImageTooOld(image, "3.5.7"); got != want {
			t.Errorf("%q is too old: %t, want %t", image, got, want)
		}
	}
	if !dialect.IsImageTooOld("spark:2.4.5", "2.4.5") {
		t.Error("an image of Spark 2 is not too old if its version is said")
	}
}
