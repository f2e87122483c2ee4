package intern_test

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/firesteel-dev/firesteel/internal/intern"
)

func TestTextsAreSharedForAsLongAsTheyAreUsed(t *testing.T) {
	first := intern.Text(strings.Clone("Driver has started running."))
	for range 3 {
		runtime.GC()
	}
	again := intern.Text(strings.Clone("Driver has started running."))
	if unsafe.StringData(first) != unsafe.StringData(again) {
		t.Error("one text is there twice")
	}
	long := strings.Repeat("x", 1000)
	if copied := intern.Text(strings.Clone(long)); copied != long || unsafe.StringData(intern.Text(strings.Clone(long))) == unsafe.StringData(copied) {
		t.Error("a long text is shared")
	}
}

func TestMapsShareKeysAndValues(t *testing.T) {
	if intern.Map(nil) != nil {
		t.Error("nil becomes a map")
	}
	a, b := intern.Map(map[string]string{strings.Clone("key"): "value"}), intern.Map(map[string]string{strings.Clone("key"): "value"})
	if len(a) != 1 || a["key"] != "value" {
		t.Errorf("the map is %q", a)
	}
	for first := range a {
		for second := range b {
			if unsafe.StringData(first) != unsafe.StringData(second) {
				t.Error("a key is there twice")
			}
		}
	}
}
