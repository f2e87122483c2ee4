package spec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// now is a spec of generation 5 whose hashes are those of this version and of the one before.
var now = spec.Spec{Generation: 5, Observed: 4, Hash: func(version int64) string {
	return map[int64]string{spec.HashVersion: "now", spec.HashVersionJSON: "json"}[version]
}}

func noting(hash string, version, generation int64) *v1alpha1.Record {
	return &v1alpha1.Record{Attempt: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: hash, HashVersion: version, Generation: generation}}}
}

// earlier is a record of a version that noted nothing but a hash.
func earlier(hash string) *v1alpha1.Record {
	return &v1alpha1.Record{Attempt: v1alpha1.Attempt{SpecHash: hash}, Launch: &v1alpha1.Launch{}}
}

func TestEditsAreDistinguishedFromNewVersionsAndDefaults(t *testing.T) {
	observed := now
	observed.Observed = 5
	for name, test := range map[string]struct {
		spec   spec.Spec
		record *v1alpha1.Record
		want   spec.Change
	}{
		"the same":                                     {now, noting("now", spec.HashVersion, 5), spec.Unchanged},
		"the same but for what does not matter":        {now, noting("now", spec.HashVersion, 4), spec.Unchanged},
		"an edit":                                      {now, noting("was", spec.HashVersion, 4), spec.Edited},
		"an edit of one that was restored":             {now, noting("was", spec.HashVersion, 6), spec.Edited},
		"a new default, without an edit":               {now, noting("was", spec.HashVersion, 5), spec.Unchanged},
		"another version, without an edit":             {now, noting("was", 99, 5), spec.Unchanged},
		"another version, and another generation":      {now, noting("was", 99, 4), spec.Unknowable},
		"no version, and another generation":           {now, noting("now", 0, 4), spec.Unknowable},
		"a version below zero":                         {now, noting("now", -1, 4), spec.Unknowable},
		"the version before, without an edit":          {now, noting("json", spec.HashVersionJSON, 4), spec.Unchanged},
		"the version before, edited":                   {now, noting("was", spec.HashVersionJSON, 4), spec.Edited},
		"an earlier record, without an edit":           {now, earlier("json"), spec.Unchanged},
		"an earlier record, edited":                    {now, earlier("was"), spec.Edited},
		"an earlier record by another library":         {observed, earlier("was"), spec.Unchanged},
		"a launch of an earlier record, edited":        {now, &v1alpha1.Record{Launch: &v1alpha1.Launch{SpecHash: "was"}}, spec.Edited},
		"a record that says nothing":                   {now, earlier(""), spec.Unnoted},
		"a record without a hash":                      {now, noting("", spec.HashVersion, 4), spec.Unnoted},
		"no record":                                    {now, nil, spec.Unnoted},
		"an object whose edits do not matter":          {spec.Spec{Generation: 5}, noting("was", spec.HashVersion, 4), spec.Unnoted},
		"an earlier one of an object without observed": {spec.Spec{Hash: now.Hash}, earlier("was"), spec.Edited},
	} {
		if got := test.spec.Since(test.record); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestTheRecordGetsTheSpecOfTheAttempt(t *testing.T) {
	record := earlier("json")
	record.Launch.SpecHash = "json"
	now.Note(record)
	want := noting("now", spec.HashVersion, 5)
	want.Launch = &v1alpha1.Launch{}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("an earlier version would take what is left for an edit (-want +got):\n%s", diff)
	}
	other := noting("was", 3, 5)
	other.Attempt.Spec.Unknown = `{"newer":1}`
	now.Note(other)
	want = noting("now", spec.HashVersion, 5)
	want.Attempt.Spec.Unknown = `{"newer":1}`
	if diff := cmp.Diff(want, other); diff != "" {
		t.Errorf("of a newer version (-want +got):\n%s", diff)
	}
}

// An upgrade writes no record just to note the same in another way.
func TestTheNoteOfAnOlderVersionStaysIfItMeansTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		older *v1alpha1.Record
		same  bool
	}{
		"of an earlier version":    {earlier("json"), true},
		"of another version":       {noting("was", 3, 5), true},
		"of another generation":    {noting("now", spec.HashVersion, 4), false},
		"of nothing":               {earlier(""), false},
		"of an earlier attempt":    {&v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: -1, SpecHash: "json"}}, false},
		"of what is noted already": {noting("now", spec.HashVersion, 5), true},
	} {
		record := test.older.DeepCopy()
		record.Attempt.ID = 0
		now.Note(record)
		noted := record.DeepCopy()
		spec.Unnote(record, test.older)
		want := noted
		if test.same {
			want = test.older
		}
		if diff := cmp.Diff(want, record); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
