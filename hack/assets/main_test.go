package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesInTheTreeHaveTheirChecksums(t *testing.T) {
	if err := compare(filepath.Join("..", "..", folder)); err != nil {
		t.Error(err)
	}
}

func TestChangedAndUnknownFilesAreFound(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"changed": {list: `[{"files":[{"to":"a","sha256":"00"}]}]`, "a": "x"},
		"unknown": {list: `[]`, "a": "x"},
		"missing": {list: `[{"files":[{"to":"a","sha256":"00"}]}]`},
	} {
		dir := t.TempDir()
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := compare(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRulesAreCutOutOfAStyleSheet(t *testing.T) {
	const css = ".a {\n  x: 1;\n}\n:root {\n  y: 2;\n}\n.b {\n  z: 3;\n}\n"
	if got, err := cut([]byte(css), []string{":root"}); err != nil || string(got) != ":root {\n  y: 2;\n}\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := cut([]byte(css), []string{".c"}); err == nil {
		t.Error("a rule is not there, and that is no error")
	}
}
