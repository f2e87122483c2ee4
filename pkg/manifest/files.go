package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the name that stands for the standard input.
const Stdin = "-"

// Files returns the files that paths name. For a folder, these are the files with manifests in it, and in the folders below it. What cannot be read is
// among them, so that Read returns the error.
func Files(paths []string) []string {
	var files []string
	for _, path := range paths {
		if info, err := os.Stat(path); path != Stdin && err == nil && info.IsDir() {
			files = append(files, below(path)...)
		} else {
			files = append(files, path)
		}
	}
	return files
}

// below returns the files with manifests in a folder and in the folders below it. Names that begin with a dot are skipped, and what is neither a file
// nor a link to one, such as a pipe.
func below(folder string) (files []string) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error { // it returns no error of its own
		switch {
		case err != nil:
			files = append(files, path)
		case path != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) && isFile(path, entry):
			files = append(files, path)
		}
		return nil
	})
	return files
}

// isFile reports whether an entry of a folder is a file, or a link to a file. A link that leads nowhere is read, too, so that an error names it.
func isFile(path string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// Read reads a file, or the standard input. It returns the error of the context if that ends first: a terminal or a pipe may be read for long.
func Read(ctx context.Context, path string, stdin io.Reader) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read(path, stdin)
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case read := <-done:
		return read.text, read.err
	}
}

func read(path string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if path != Stdin {
		file, err := os.Open(path) //nolint:gosec // the user names it
		if err != nil {
			return nil, unreadable(path, err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case len(text) > MaxFileBytes:
		return nil, fmt.Errorf("%s has more than %d MiB: split it", nameOf(path), MaxFileBytes>>20)
	default:
		return text, nil
	}
}

func unreadable(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s cannot be read (%w): name a file or a folder with manifests, or - for the standard input", nameOf(path), err)
}

// nameOf returns the name of a file for messages.
func nameOf(path string) string {
	if path == Stdin {
		return "the standard input"
	}
	return path
}
