package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inputs are what the generators read, as paths in the module.
var inputs = []string{"go.mod", "go.sum", "tools", "hack/codegen", "internal", "pkg", "config"}

// verify generates in a copy of the module and compares.
func verify(root string) error {
	fresh, err := os.MkdirTemp("", "firesteel-codegen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)

	for _, input := range inputs {
		if err := duplicate(filepath.Join(root, input), filepath.Join(fresh, input)); err != nil {
			return err
		}
	}
	if err := generate(fresh); err != nil {
		return err
	}
	return compare(root, fresh)
}

func duplicate(source, target string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(target, os.DirFS(source))
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, text, 0o644)
}

func compare(root, fresh string) error {
	old, err := outputs(root)
	if err != nil {
		return err
	}
	current, err := outputs(fresh)
	if err != nil {
		return err
	}
	paths := slices.Concat(old, current)
	slices.Sort(paths)

	var stale []error
	for _, path := range slices.Compact(paths) {
		// A file that is missing on one side reads as empty there, and no generated file is empty.
		before, _ := os.ReadFile(filepath.Join(root, path))
		after, _ := os.ReadFile(filepath.Join(fresh, path))
		if !bytes.Equal(before, after) {
			stale = append(stale, fmt.Errorf("%s is out of date: run make generate", path))
		}
	}
	return errors.Join(stale...)
}

// outputs lists the generated files below root.
func outputs(root string) ([]string, error) {
	var paths []string
	for _, dir := range []string{"pkg", "config", referenceDir} {
		err := fs.WalkDir(os.DirFS(root), dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && generated(path) {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func generated(path string) bool {
	name := filepath.Base(path)
	isCRD := strings.HasPrefix(path, "config/") && strings.HasPrefix(name, "300-")
	isPolicy := strings.HasPrefix(path, "config/admission") && strings.HasPrefix(name, policyPrefix)
	return isCRD || isPolicy || strings.HasPrefix(path, clientDir+"/") ||
		strings.HasPrefix(name, "zz_generated.") ||
		strings.HasPrefix(path, referenceDir+"/")
}
