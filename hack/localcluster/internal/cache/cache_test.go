package cache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestEnsureBuildsOncePerKey(t *testing.T) {
	dir := Dir(t.TempDir())
	builds := 0
	ensure := func(key string) {
		t.Helper()
		_, err := dir.Ensure("images/thing", key, func(dest string) error {
			builds++
			return os.WriteFile(dest, []byte(key), 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		key    string
		builds int
	}{{"one", 1}, {"one", 1}, {"two", 2}, {"two", 2}, {"one", 3}} {
		ensure(step.key)
		if builds != step.builds {
			t.Errorf("after key %s: %d builds, want %d", step.key, builds, step.builds)
		}
	}
	if err := os.Remove(dir.Path("images/thing")); err != nil {
		t.Fatal(err)
	}
	ensure("one")
	if builds != 4 {
		t.Errorf("a lost item is not built again")
	}
}

func TestEnsureStoresNothingOfAFailedBuild(t *testing.T) {
	dir := Dir(t.TempDir())
	broken := errors.New("broken")
	_, err := dir.Ensure("thing", "key", func(dest string) error {
		return errors.Join(os.WriteFile(dest, nil, 0o644), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	left, err := filepath.Glob(dir.Path("*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if dir.Fresh("thing", "key") {
		t.Error("the item is said to be there")
	}
}

func TestKeyDiffersForEachInput(t *testing.T) {
	if Key("ab", "c") == Key("a", "bc") || Key("a") == Key("a", "") {
		t.Error("different inputs have the same key")
	}
}

func TestTheCacheIsBelowHomeUnlessTheEnvironmentNamesAnother(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	t.Setenv("FIRESTEEL_CACHE", "")
	if dir, err := Default(); err != nil || dir != "/home/someone/.cache/firesteel" {
		t.Errorf("got %s, %v", dir, err)
	}
	t.Setenv("FIRESTEEL_CACHE", "/big/disk")
	if dir, err := Default(); err != nil || dir.Program("kubectl") != "/big/disk/bin/kubectl" {
		t.Errorf("got %s, %v", dir, err)
	}
}
