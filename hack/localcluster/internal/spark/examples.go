package spark

import (
	"archive/zip"
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// examples are the example programs that manifests name, with the class names
// and the output of Spark's own; files are what else the image holds.
//
//go:embed examples
var examples embed.FS

//go:embed all:image
var files embed.FS

const exampleJar = "examples/jars/spark-examples.jar"

// sources are the texts of all that this package adds to Spark, with their names.
func sources() []string {
	var texts []string
	for _, tree := range []embed.FS{examples, files} {
		_ = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				text, _ := tree.ReadFile(name)
				texts = append(texts, name, string(text))
			}
			return err
		})
	}
	return append(texts, exampleJars()...)
}

// compileExamples makes the jar of the examples, under all names that it has
// in images of different versions, in a folder to be laid over Spark's home.
func compileExamples(ctx context.Context, t *step.Task, home, dest string) error {
	work, err := os.MkdirTemp("", "spark-examples-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, examples); err != nil {
		return err
	}
	classes := filepath.Join(work, "classes")
	args := []string{"--release", "17", "-nowarn", "-cp", filepath.Join(home, "jars", "*"), "-d", classes}
	sources, err := javaFiles(work)
	if err != nil {
		return err
	}
	if err := t.Run(ctx, "javac", append(args, sources...)...); err != nil {
		return err
	}
	jar := filepath.Join(dest, exampleJar)
	if err := zipFolder(jar, classes, "."); err != nil {
		return err
	}
	for _, name := range exampleJars() {
		if err := os.Symlink(filepath.Base(jar), filepath.Join(filepath.Dir(jar), name)); err != nil {
			return err
		}
	}
	return nil
}

func javaFiles(dir string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".java") {
			found = append(found, name)
		}
		return err
	})
	return found, err
}

// writeScripts writes this package's own files, what a binary release has and the
// source archive lacks, into a folder to be laid over Spark's home.
func writeScripts(dest string) error {
	const release = "image/spark"
	return fs.WalkDir(files, release, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.Open(name)
		if err != nil {
			return err
		}
		defer text.Close()
		return writeFile(filepath.Join(dest, strings.TrimPrefix(name, release)), text, 0o644)
	})
}

// zipFolder writes a zip (a jar is one) of what the folder inside base holds.
func zipFolder(dest, base, folder string) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	file, err := os.Create(dest)
	if err != nil {
		return err
	}
	w := zip.NewWriter(file)
	err = filepath.WalkDir(filepath.Join(base, folder), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inner, err := filepath.Rel(base, name)
		if err != nil {
			return err
		}
		return addToZip(w, name, path.Clean(filepath.ToSlash(inner)))
	})
	return errors.Join(err, w.Close(), file.Close())
}

func addToZip(w *zip.Writer, file, name string) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	entry, err := w.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, content)
	return err
}
