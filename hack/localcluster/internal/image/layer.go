// Package image builds container images out of plain files, without a container
// engine: an image is a few uncompressed layers and a configuration.
package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// epoch is the time of every file that is written here: the same content makes
// the same image.
var epoch = time.Unix(0, 0)

// LayerWriter writes a layer.
type LayerWriter struct {
	file  *os.File
	hash  hash.Hash
	tar   *tar.Writer
	names map[string]bool
}

// NewLayerWriter begins the layer in the folder.
func NewLayerWriter(dir string) (*LayerWriter, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, layerFile))
	if err != nil {
		return nil, err
	}
	w := &LayerWriter{file: file, hash: sha256.New(), names: map[string]bool{}}
	w.tar = tar.NewWriter(io.MultiWriter(file, w.hash))
	return w, nil
}

// Close ends the layer and writes its digest beside it.
func (w *LayerWriter) Close() error {
	digest := func() error {
		name := filepath.Join(filepath.Dir(w.file.Name()), digestFile)
		return os.WriteFile(name, []byte(hex.EncodeToString(w.hash.Sum(nil))), 0o644)
	}
	if err := w.tar.Close(); err != nil {
		return errors.Join(err, w.file.Close())
	}
	return errors.Join(w.file.Close(), digest())
}

// Attributes are a file's mode and its owner.
type Attributes struct {
	Mode  fs.FileMode
	Owner int // user and group
}

// Dir adds a folder and those above it, unless they are there.
func (w *LayerWriter) Dir(name string, a Attributes) error {
	name = clean(name)
	if name == "" || w.names[name] {
		return nil
	}
	if err := w.Dir(path.Dir(name), Attributes{Mode: 0o755}); err != nil {
		return err
	}
	return w.header(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/"}, a)
}

// File adds a file.
func (w *LayerWriter) File(name string, content []byte, a Attributes) error {
	if err := w.Dir(path.Dir(clean(name)), Attributes{Mode: 0o755}); err != nil {
		return err
	}
	if err := w.header(&tar.Header{Typeflag: tar.TypeReg, Name: clean(name), Size: int64(len(content))}, a); err != nil {
		return err
	}
	_, err := w.tar.Write(content)
	return err
}

// Symlink adds a symbolic link.
func (w *LayerWriter) Symlink(name, target string) error {
	if err := w.Dir(path.Dir(clean(name)), Attributes{Mode: 0o755}); err != nil {
		return err
	}
	return w.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: clean(name), Linkname: target}, Attributes{Mode: 0o777})
}

// Tree adds a folder of the machine under another name, all of it with that owner.
func (w *LayerWriter) Tree(source, name string, owner int) error {
	return filepath.WalkDir(source, func(file string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inner, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		return w.add(file, path.Join(name, filepath.ToSlash(inner)), owner)
	})
}

func (w *LayerWriter) add(file, name string, owner int) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	a := Attributes{Mode: info.Mode().Perm(), Owner: owner}
	switch {
	case info.IsDir():
		return w.Dir(name, a)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(file)
		if err != nil {
			return err
		}
		return w.Symlink(name, target)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither file, folder nor link", file)
	}
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := w.header(&tar.Header{Typeflag: tar.TypeReg, Name: clean(name), Size: info.Size()}, a); err != nil {
		return err
	}
	_, err = io.Copy(w.tar, content)
	return err
}

// Archive adds what a tar archive holds. The function may change an entry's
// content, and leaves an entry out by returning false.
func (w *LayerWriter) Archive(source io.Reader, edit func(name string, content io.Reader) (io.Reader, bool)) error {
	reader := tar.NewReader(source)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := clean(header.Name)
		content, keep := edit(name, reader)
		if name == "" || !keep || w.names[name] {
			continue
		}
		if err := w.copy(header, content, content == io.Reader(reader)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

func (w *LayerWriter) copy(header *tar.Header, content io.Reader, unchanged bool) error {
	header.Format = tar.FormatUnknown
	header.Name = clean(header.Name)
	if header.Typeflag == tar.TypeDir {
		header.Name += "/"
	}
	if header.Typeflag == tar.TypeLink {
		header.Linkname = clean(header.Linkname)
	}
	w.names[clean(header.Name)] = true
	if !unchanged {
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		header.Size = int64(len(data))
		content = strings.NewReader(string(data))
	}
	if err := w.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(w.tar, content)
	return err
}

func (w *LayerWriter) header(h *tar.Header, a Attributes) error {
	h.Mode = int64(a.Mode.Perm())
	if a.Mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	h.Uid, h.Gid = a.Owner, a.Owner
	h.ModTime = epoch
	w.names[clean(h.Name)] = true
	return w.tar.WriteHeader(h)
}

// clean is a name as archives have it: relative, without a slash at the end.
func clean(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	return name
}
