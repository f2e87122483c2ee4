// Package cache stores what is expensive to build (binaries, archives, images) in
// one folder outside the checkout, each item beside the hash of its inputs. The same
// inputs are never built twice, and changed inputs always are.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is the cache folder.
type Dir string

// Default is $FIRESTEEL_CACHE, or .cache/firesteel in the home folder.
func Default() (Dir, error) {
	if dir := os.Getenv("FIRESTEEL_CACHE"); dir != "" {
		abs, err := filepath.Abs(dir)
		return Dir(abs), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home folder to keep the cache in (set FIRESTEEL_CACHE): %w", err)
	}
	return Dir(filepath.Join(home, ".cache", "firesteel")), nil
}

// Path is the path of a name inside the folder.
func (d Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Bin holds the programs of the cluster, each under its usual name.
func (d Dir) Bin() string { return d.Path("bin") }

// Program is the path of one program of the cluster.
func (d Dir) Program(name string) string { return d.Path("bin", name) }

// Logs holds the logs of the steps that build and boot.
func (d Dir) Logs() string { return d.Path("logs") }

// Cluster holds the state of the running cluster and nothing that outlives it.
func (d Dir) Cluster() string { return d.Path("cluster") }

// Kubeconfig is the administrator's kubeconfig of the running cluster.
func (d Dir) Kubeconfig() string { return d.Path("cluster", "kubeconfig") }

// Key is the hash of an item's inputs.
func Key(inputs ...string) string {
	h := sha256.New()
	for _, in := range inputs {
		// The length in front keeps ("ab", "c") and ("a", "bc") apart.
		fmt.Fprintf(h, "%d:%s", len(in), in)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Fresh reports whether the item at path was made from the inputs of that key.
func (d Dir) Fresh(path, key string) bool {
	stamp, err := os.ReadFile(d.stamp(path))
	if err != nil || string(stamp) != key {
		return false
	}
	_, err = os.Lstat(d.Path(path))
	return err == nil
}

// Ensure calls build for the file or folder at path, unless it was built with
// the same key. Build writes to a temporary place. Only a finished result gets
// the item's name, so an interrupted build leaves nothing that looks complete.
func (d Dir) Ensure(path, key string, build func(dest string) error) (built bool, err error) {
	if d.Fresh(path, key) {
		return false, nil
	}
	dest := d.Path(path)
	partial := dest + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.MkdirAll(filepath.Dir(dest), 0o755)); err != nil {
		return false, err
	}
	if err := build(partial); err != nil {
		return false, errors.Join(err, os.RemoveAll(partial))
	}
	if err := d.replace(path, partial); err != nil {
		return false, err
	}
	return true, os.WriteFile(d.stamp(path), []byte(key), 0o644)
}

func (d Dir) replace(path, partial string) error {
	if err := os.Remove(d.stamp(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(d.Path(path)); err != nil {
		return err
	}
	return os.Rename(partial, d.Path(path))
}

func (d Dir) stamp(path string) string { return d.Path(path) + ".inputs" }
