package submission

import (
	"math/rand/v2"
	"strings"
	"testing"

	imageref "github.com/distribution/reference"
)

// The kubelet reads images by the library that is asked here.
func TestReferencesOfImagesAreThoseOfTheKubelet(t *testing.T) {
	pieces := []string{
		"a", "Z", "0", "9f", "spark", "Spark", "localhost", "docker.io", "example.com", "A_b.c", "::1", "v4.1.0", "latest", "é", "~",
		".", "..", "_", "__", "___", "-", "--", "/", "//", ":", "@", "[", "]", " ", ":5000", "sha256:", "sha512:", "md5:",
		strings.Repeat("a", 64), strings.Repeat("0f", 64), strings.Repeat("x", 127), strings.Repeat("x", 200), "{{SPARK_VERSION}}",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 50_000 {
		var image strings.Builder
		for range 1 + rng.IntN(8) {
			image.WriteString(pieces[rng.IntN(len(pieces))])
		}
		_, err := imageref.ParseNormalizedNamed(image.String())
		if err == nil {
			accepted++
		}
		if image.Len() > maxReference {
			continue
		}
		if problem := noReference(image.String()); (problem == "") != (err == nil) {
			t.Fatalf("%q: %q, and the kubelet: %v", image.String(), problem, err)
		}
	}
	if accepted < 500 {
		t.Errorf("only %d of the texts are references", accepted)
	}
}

func TestReferencesOfImagesAreExplained(t *testing.T) {
	for image, want := range map[string]string{
		"example.com:5000/a/spark_x:v4.1.0@sha256:" + strings.Repeat("a", 64): "",
		"Example.com/spark":         "",
		"https://example.com/spark": "its name is not of lower-case letters and digits, with /, ., _ and - between them",
		"spark:4.1:0":               "its name is not of lower-case letters and digits, with /, ., _ and - between them",
		"example.com/Spark":         "its name has capital letters",
		"spark:":                    "its tag is not one of at most 128 letters, digits, _, . and -",
		"spark@sha256:abcd":         "its digest is not one such as sha256: with 64 hexadecimal digits",
		strings.Repeat("a", 64):     "64 hexadecimal digits are an ID",
		strings.Repeat("a", 256):    "its name is too long",
		strings.Repeat("a", 1025):   "it is too long",
	} {
		if got := noReference(image); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}
