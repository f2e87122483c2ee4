package packages

import (
	"slices"
	"testing"
)

func TestPackagesWhoseFilesAreAbsentAreMissing(t *testing.T) {
	have := func(files ...string) func(string) bool {
		return func(file string) bool { return slices.Contains(files, file) }
	}
	got := missing(needs, have("ip", "runc", "mmdebstrap", "javac", "python3", "pip3", "/usr/lib/cni/ptp", "iptables-save"))
	if want := []string{"containerd", "ca-certificates"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := missing(needs, func(string) bool { return true }); len(got) > 0 {
		t.Errorf("nothing is missing, got %v", got)
	}
}
