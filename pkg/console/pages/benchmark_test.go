package pages_test

import (
	"net/http"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/consolepages"
)

// BenchmarkPages renders pages of which a list has a hundred rows.
func BenchmarkPages(b *testing.B) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	for name, path := range map[string]string{"overview": "/", "list": "/applications?kind=application", "application": pathOf(consolepages.Failed)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if answer := get(handler, path); answer.Code != http.StatusOK {
					b.Fatal(answer.Code)
				}
			}
		})
	}
}
