package codec_test

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/cost"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

func TestObjectsWithTooManyEntriesAreRefused(t *testing.T) {
	const size = 1 << 20
	list := func(entry string) string { return "[" + strings.Repeat(entry+",", size/(len(entry)+1)) + entry + "]" }
	template := func(field, value string) string {
		return `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"name":"a"},"spec":{"driverSpec":{"podTemplateSpec":{"spec":{"` +
			field + `":` + value + `}}}}}`
	}
	for field, entries := range map[string][]string{
		"containers": {`{}`, `null`, `{"env":[]}`}, "initContainers": {`{}`}, "ephemeralContainers": {`{}`, `null`},
		"volumes": {`{}`, `null`, `{"name":"v","emptyDir":{"sizeLimit":"1"}}`}, "tolerations": {`{}`},
	} {
		for _, entry := range entries {
			data := template(field, list(entry))
			var found codec.Findings
			var err error
			spent := cost.Of(func() { _, found, err = codec.Decode[application]([]byte(data)) })
			if spent.Bytes > 64<<20+8*size {
				t.Errorf("%s of %s take %d MiB", field, entry, spent.Bytes>>20)
			}
			if err != nil || !strings.HasPrefix(found.Undecodable, "spec.driverSpec.podTemplateSpec.spec."+field+"[") {
				t.Errorf("%s of %s: %v, %.300s", field, entry, err, found.Undecodable)
			}
		}
	}
}

func TestLargeObjectsAreAccepted(t *testing.T) {
	for name, data := range map[string]string{
		"arguments":  `{"containers":[{"args":[` + strings.Repeat(`"a",`, 300_000) + `"a"]}]}`,
		"variables":  `{"containers":[{"env":[` + strings.Repeat(`{"name":"ABCDEF","value":"b"},`, 40_000) + `{}]}]}`,
		"containers": `{"containers":[` + strings.Repeat(`{"name":"a"},`, 9000) + `{}]}`,
		"labels":     `{"nodeSelector":{` + strings.Repeat(`"a":"b",`, 100_000) + `"a":"b"}}`,
		"unknown":    `{"none":[` + strings.Repeat(`{},`, 400_000) + `{}]}`,
		"another's":  `{"containers":{"a":[` + strings.Repeat(`{},`, 400_000) + `{}]}}`,
	} {
		if err := codec.CheckWeight([]byte(data), reflect.TypeFor[corev1.PodSpec]()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
