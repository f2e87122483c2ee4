package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// WriteArchive writes the image to a file, as an OCI archive that has it under one name, REPOSITORY:TAG.
func (i *Image) WriteArchive(file, full string) error {
	content, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(content)
	return errors.Join(i.archive(w, full), w.Close(), content.Close())
}

func (i *Image) archive(w *tar.Writer, full string) error {
	index, err := i.index(full).RawManifest()
	if err != nil {
		return err
	}
	manifest, err := i.image.RawManifest()
	if err != nil {
		return err
	}
	digest, err := i.image.Digest()
	if err != nil {
		return err
	}
	config, err := i.image.RawConfigFile()
	if err != nil {
		return err
	}
	configName, err := i.image.ConfigName()
	if err != nil {
		return err
	}
	err = errors.Join(
		addBytes(w, "oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)),
		addBytes(w, "index.json", index),
		addBytes(w, blobName(digest), manifest),
		addBytes(w, blobName(configName), config),
	)
	for _, layer := range i.layers {
		err = errors.Join(err, layer.archive(w))
	}
	return err
}

// index names the image in the two ways in which programs look for names.
func (i *Image) index(full string) v1.ImageIndex {
	annotations := map[string]string{
		"io.containerd.image.name":          full,
		"org.opencontainers.image.ref.name": full[strings.LastIndex(full, ":")+1:],
	}
	return mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: i.image, Descriptor: v1.Descriptor{Annotations: annotations},
	})
}

func (l fileLayer) archive(w *tar.Writer) error {
	content, err := os.Open(l.file)
	if err != nil {
		return err
	}
	defer content.Close()
	size, err := l.Size()
	if err != nil {
		return err
	}
	return add(w, blobName(l.digest), size, content)
}

func blobName(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }

func addBytes(w *tar.Writer, name string, content []byte) error {
	return add(w, name, int64(len(content)), bytes.NewReader(content))
}

func add(w *tar.Writer, name string, size int64, content io.Reader) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: epoch}); err != nil {
		return err
	}
	_, err := io.Copy(w, content)
	return err
}
