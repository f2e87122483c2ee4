// Package spark makes the Spark images: Debian with a Java and a Python, the
// Spark of the PyPI source archive, and the example programs that manifests
// name, which that archive lacks.
package spark

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// Homes is the folder in the cache that holds each unpacked release under its
// version: a SPARK_HOME that the machine itself can use too.
func Homes(c cache.Dir) string { return c.Path("spark") }

func (r Release) home() string { return filepath.Join("spark", r.Version) }

func (r Release) homeKey() string { return cache.Key(r.digest, "layout 3") }

// Install has in the cache all of the release's image that comes from elsewhere.
func (r Release) Install(ctx context.Context, t *step.Task, c cache.Dir) error {
	if err := r.unpackHome(ctx, t, c); err != nil {
		return err
	}
	return r.fetchExporter(ctx, t, c)
}

// unpackHome has the release's folder in the cache, laid out as in a binary
// release: the source archive keeps it under deps, and the Python library beside.
func (r Release) unpackHome(ctx context.Context, t *step.Task, c cache.Dir) error {
	_, err := c.Ensure(r.home(), r.homeKey(), func(dest string) error {
		download := dest + ".download"
		defer os.RemoveAll(download)
		archive, err := r.download(ctx, t, download)
		if err != nil {
			return err
		}
		t.Say("unpacking Spark %s", r.Version)
		if err := unpack(archive, dest); err != nil {
			return err
		}
		text := fmt.Sprintf("Spark %s built for Hadoop 3\n", r.Version)
		return errors.Join(
			os.WriteFile(filepath.Join(dest, "RELEASE"), []byte(text), 0o644),
			zipFolder(filepath.Join(dest, "python", "lib", "pyspark.zip"), filepath.Join(dest, "python"), "pyspark"))
	})
	return err
}

// download has the source archive in the folder.
func (r Release) download(ctx context.Context, t *step.Task, dir string) (archive string, err error) {
	t.Say("downloading pyspark %s (450 MB)", r.Version)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	requirement := filepath.Join(dir, "requirements.txt")
	pinned := fmt.Sprintf("pyspark==%s --hash=%s\n", r.Version, r.digest)
	if err := os.WriteFile(requirement, []byte(pinned), 0o644); err != nil {
		return "", err
	}
	err = t.Run(ctx, "python3", "-m", "pip", "download", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
		"--no-binary", "pyspark", "--require-hashes", "--requirement", requirement, "--dest", dir)
	return filepath.Join(dir, "pyspark-"+r.Version+".tar.gz"), err
}

func unpack(archive, dest string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	reader := tar.NewReader(zipped)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		name, wanted := place(header.Name)
		if header.Typeflag != tar.TypeReg || !wanted {
			continue
		}
		if err := writeFile(filepath.Join(dest, name), reader, os.FileMode(header.Mode)); err != nil {
			return err
		}
	}
}

// place says where a file of the source archive belongs in a Spark release.
func place(name string) (string, bool) {
	_, name, _ = strings.Cut(path.Clean(name), "/") // the archive's own folder
	if strings.HasSuffix(name, ".cmd") || strings.Contains("/"+name+"/", "/../") {
		return "", false
	}
	for _, rule := range []struct{ from, to string }{
		{"deps/examples/", "examples/src/main/python/"},
		{"deps/", ""},
		{"lib/", "python/lib/"},
		{"pyspark/", "python/pyspark/"},
		{"LICENSE", "LICENSE"},
		{"NOTICE", "NOTICE"},
	} {
		if rest, ok := strings.CutPrefix(name, rule.from); ok {
			return rule.to + rest, true
		}
	}
	return "", false
}

func writeFile(name string, content io.Reader, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if strings.Contains(name, "/bin/") || strings.Contains(name, "/sbin/") {
		mode |= 0o111
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode.Perm()|0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
