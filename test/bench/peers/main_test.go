package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firesteel-dev/firesteel/test/bench/peers/result"
)

func TestTableIsWrittenIntoBothPagesAndTheResultIsKept(t *testing.T) {
	root := t.TempDir()
	r, err := result.Read("result.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../../..", page))
		if err != nil {
			t.Fatal(err)
		}
		write(t, root, page, string(text))
	}
	r.Rounds[0].Firesteel.Released += 1000
	other := filepath.Join(t.TempDir(), "other.json")
	write(t, root, committed, "an earlier one")
	if err := r.Write(other); err != nil {
		t.Fatal(err)
	}
	if err := table(root, other); err != nil {
		t.Fatal(err)
	}
	kept, err := result.Read(filepath.Join(root, committed))
	if err != nil || kept.Rounds[0].Firesteel.Released != r.Rounds[0].Firesteel.Released {
		t.Errorf("the committed result is %+v, error %v", kept, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.Insert(string(text)); err != nil || again != string(text) {
			t.Errorf("%s does not have the table, error %v", page, err)
		}
	}
}
