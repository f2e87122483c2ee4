package hostile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/internal/cost"
	"github.com/firesteel-dev/firesteel/test/hostile"
)

// BenchmarkOrdinaryObjects measures what each step costs for a byte of an object that is as large as may be, and harmless.
// Run it alone: the allowances are made of it.
func BenchmarkOrdinaryObjects(b *testing.B) {
	for _, k := range hostile.Kinds {
		for what, spec := range ordinarySpecs() {
			data := k.With(spec)
			if len(data) > hostile.MaxSize {
				b.Fatalf("%s with %s is of %d bytes", k, what, len(data))
			}
			for number, s := range stepsOf(k, data) {
				b.Run(fmt.Sprintf("%s/%s/%s", k, what, s.name), func(b *testing.B) {
					var total cost.Cost
					for b.Loop() {
						steps := stepsOf(k, data)
						for _, before := range steps[:number] {
							if err := before.do(); err != nil {
								b.Fatal(err)
							}
						}
						spent := cost.Of(func() { _ = steps[number].do() })
						total.CPU, total.Bytes = total.CPU+spent.CPU, total.Bytes+spent.Bytes
					}
					each := float64(b.N) * float64(len(data))
					b.ReportMetric(float64(total.CPU)/each, "cpu-ns/byte")
					b.ReportMetric(float64(total.Bytes)/each, "bytes/byte")
				})
			}
		}
	}
}

// ordinarySpecs are specs with much of what people have much of.
func ordinarySpecs() map[string]any {
	properties, arguments, variables := map[string]any{}, []any{}, []any{}
	for i := range 16_000 {
		properties[fmt.Sprintf("spark.hadoop.fs.s3a.bucket.b%d.endpoint", i)] = "https://s3.example.com/path/to/it"
	}
	for i := range 50_000 {
		arguments = append(arguments, fmt.Sprintf("--argument-%d=value", i))
	}
	for i := range 200 {
		variables = append(variables, map[string]any{"name": fmt.Sprintf("VARIABLE_%d", i), "value": strings.Repeat("some text", 700)})
	}
	pod := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "env": variables}}}}
	return map[string]any{
		"properties":              map[string]any{"sparkConf": properties},
		"text":                    map[string]any{"sparkConf": map[string]any{"spark.x": strings.Repeat("some words of a text ", 65_000)}},
		"arguments":               map[string]any{"arguments": arguments},
		"arguments of a driver":   map[string]any{"driverArgs": arguments},
		"variables":               map[string]any{"driver": map[string]any{"env": variables}},
		"variables of a template": map[string]any{"driverSpec": map[string]any{"podTemplateSpec": pod}},
		"variables of a master":   map[string]any{"masterSpec": map[string]any{"statefulSetSpec": map[string]any{"template": pod}}},
	}
}
