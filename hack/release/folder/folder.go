// Package folder reads and changes the folder of a release: its checksums, its images in an OCI layout, its chart, and the
// registry that its manifests name.
package folder

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// Layout is the OCI layout with all images and the chart.
	Layout = "oci"
	// Checksums lists the SHA-256 sum of each file, as sha256sum does.
	Checksums = "checksums.txt"
	// Unfinished lists further checksums that files may have while a push changes the folder. It is there until the push is complete.
	Unfinished = "push-unfinished.txt"
	// Signature is cosign's signature of Checksums.
	Signature = Checksums + ".sigstore.json"
	// PublicKey is the key that verifies the signatures.
	PublicKey = "cosign.pub"
)

// next is the suffix of a file that will replace another.
const next = ".next"

// Dir is the path of a release's folder.
type Dir string

// Path returns the path of a file of the folder.
func (d Dir) Path(name ...string) string {
	return filepath.Join(append([]string{string(d)}, name...)...)
}

// Sum writes the checksums of all files.
func (d Dir) Sum() error {
	names, err := d.Files()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, name := range names {
		sum, err := d.SumOf(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return d.write(Checksums, text.Bytes())
}

// Verify compares all files with the checksums.
func (d Dir) Verify() error {
	text, err := os.ReadFile(d.Path(Checksums))
	if err != nil {
		return err
	}
	unfinished, err := d.unfinished()
	if err != nil {
		return err
	}
	var wrong []error
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		want, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || !filepath.IsLocal(name) {
			return fmt.Errorf("%s: the line %q is not a checksum and the path of a file", Checksums, lines.Text())
		}
		got, err := d.SumOf(name)
		switch {
		case len(unfinished) > 0 && errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, Layout+"/blobs/"):
			// The push has removed what no artefact refers to any more.
		case err != nil:
			wrong = append(wrong, err)
		case got != want && !slices.Contains(unfinished, got+"  "+name):
			wrong = append(wrong, fmt.Errorf("%s has the checksum %s, but %s says %s", name, got, Checksums, want))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the folder is damaged or incomplete, fetch it again: %w", errors.Join(wrong...))
	}
	return nil
}

// SumOf returns the checksum of a file.
func (d Dir) SumOf(name string) (string, error) {
	file, err := os.Open(d.Path(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Files returns the names of all files that have a checksum, in the order of their names.
func (d Dir) Files() ([]string, error) {
	var names []string
	err := filepath.WalkDir(string(d), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		name = filepath.ToSlash(name)
		if name != Checksums && name != Signature && name != Unfinished && !strings.HasSuffix(name, next) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// write replaces a file at once, so that an interruption leaves the old one.
func (d Dir) write(name string, content []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(d.Path(name)); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.WriteFile(d.Path(name)+next, content, mode); err != nil {
		return err
	}
	return os.Rename(d.Path(name)+next, d.Path(name))
}

// begin notes the checksums of files that will change, beside those of an earlier push that was interrupted.
func (d Dir) begin(changed map[string][]byte) error {
	lines, err := d.unfinished()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		lines = append(lines, fmt.Sprintf("%x  %s", sha256.Sum256(changed[name]), name))
	}
	return d.write(Unfinished, []byte(strings.Join(lines, "\n")+"\n"))
}

// unfinished returns the lines of [Unfinished]. There are none if no push was interrupted.
func (d Dir) unfinished() ([]string, error) {
	text, err := os.ReadFile(d.Path(Unfinished))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}
