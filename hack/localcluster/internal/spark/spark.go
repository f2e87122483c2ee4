// Package spark makes the Spark image: Debian with a Java and a Python, the
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

const archiveName = "pyspark-" + Version + ".tar.gz"

// Home is the folder of the unpacked Spark in the cache: a SPARK_HOME that the
// machine itself can use too.
func Home(c cache.Dir) string { return c.Path(home) }

const (
	archive = "archives/" + archiveName
	home    = "spark/" + Version
)

// Download has the source archive in the cache.
func Download(ctx context.Context, t *step.Task, c cache.Dir) error {
	if c.Fresh(home, homeKey()) {
		return nil // what was wanted of it is there
	}
	_, err := c.Ensure(archive, cache.Key(archiveDigest), func(dest string) error {
		t.Say("downloading pyspark %s (450 MB)", Version)
		dir, err := os.MkdirTemp(filepath.Dir(dest), "pip-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		requirement := filepath.Join(dir, "requirements.txt")
		pinned := fmt.Sprintf("pyspark==%s --hash=%s\n", Version, archiveDigest)
		if err := os.WriteFile(requirement, []byte(pinned), 0o644); err != nil {
			return err
		}
		err = t.Run(ctx, "python3", "-m", "pip", "download", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
			"--no-binary", "pyspark", "--require-hashes", "--requirement", requirement, "--dest", dir)
		if err != nil {
			return err
		}
		return os.Rename(filepath.Join(dir, archiveName), dest)
	})
	return err
}

func homeKey() string {
	return cache.Key(append([]string{archiveDigest, "layout 2", buildExamples}, exampleSources()...)...)
}

// Unpack has Spark's folder in the cache, laid out as in a release: the source
// archive keeps it under deps, and the Python library beside.
func Unpack(ctx context.Context, t *step.Task, c cache.Dir) error {
	_, err := c.Ensure(home, homeKey(), func(dest string) error {
		t.Say("unpacking Spark and compiling its examples")
		if err := unpack(c.Path(archive), dest); err != nil {
			return err
		}
		if err := errors.Join(writeScripts(dest), zipFolder(
			filepath.Join(dest, "python", "lib", "pyspark.zip"), filepath.Join(dest, "python"), "pyspark")); err != nil {
			return err
		}
		return compileExamples(ctx, t, dest)
	})
	return err
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
