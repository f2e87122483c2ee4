package parity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLinesAreReadAsSparkSubmitReadsThem(t *testing.T) {
	for _, version := range Versions {
		recordings, err := LoadLines(version)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, line := range Lines {
			if !line.Of(version) {
				continue
			}
			count++
			want, recorded := recordings[line.Name]
			if !recorded {
				t.Errorf("%s: there is no recording of %s, run make parity", version, line.Name)
				continue
			}
			got := line.Read()
			if (got.Refused != "") != (want.Refused != "") {
				t.Errorf("%s: spark-submit refuses %s with %q, Firesteel with %q", version, line.Name, want.Refused, got.Refused)
			}
			if diff := cmp.Diff(want, got); diff != "" && want.Refused == "" {
				t.Errorf("%s: %s (-spark-submit +Firesteel):\n%s", version, line.Name, diff)
			}
		}
		if count != len(recordings) {
			t.Errorf("%s: %d recordings are of %d lines", version, len(recordings), count)
		}
	}
}
