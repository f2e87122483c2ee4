package overview_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/test/harness/recorded"
)

// BenchmarkRead reads one object; kubectl spark list reads as many as there are.
func BenchmarkRead(b *testing.B) {
	objects := recorded.All()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := overview.Read(objects[i%len(objects)].Object); err != nil {
			b.Fatal(err)
		}
	}
}
