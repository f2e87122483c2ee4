package invariants_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

func TestArchivedAsRecorded(t *testing.T) {
	log := func(content, missing string) []invariants.StoredLog {
		return []invariants.StoredLog{{Log: archive.Log{Missing: missing}, Content: content}}
	}
	whole, missing := &archive.Manifest{}, &archive.Manifest{Missing: []archive.Missing{{What: "a log"}}}
	for name, c := range map[string]struct {
		how      lifecycle.Archived
		manifest *archive.Manifest
		logs     []invariants.StoredLog
		holds    bool
	}{
		"whole":                       {lifecycle.ArchivedWhole, whole, log("one two", ""), true},
		"not archived, as recorded":   {lifecycle.ArchivedNot, nil, nil, true},
		"named as missing":            {lifecycle.ArchivedPartly, whole, log("one", "the end"), true},
		"a log that is not there":     {lifecycle.ArchivedPartly, missing, nil, true},
		"without manifest":            {lifecycle.ArchivedWhole, nil, nil, false},
		"a part, and it is not said":  {lifecycle.ArchivedWhole, whole, log("one", ""), false},
		"not whole, as the log says":  {lifecycle.ArchivedWhole, whole, log("one", "the end"), false},
		"something else":              {lifecycle.ArchivedPartly, whole, log("two", "the end"), false},
		"not whole, as is said of it": {lifecycle.ArchivedWhole, missing, log("one two", ""), false},
	} {
		err := invariants.ArchivedAsRecorded(c.how, c.manifest, c.logs, func(archive.LogID) string { return "one two" })
		if (err == nil) != c.holds {
			t.Errorf("%s: %v, want that it holds: %t", name, err, c.holds)
		}
	}
}
