package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	layerFile  = "layer.tar"
	digestFile = "digest"
)

// Image is an image whose layers LayerWriters wrote.
type Image struct {
	layers []fileLayer
	image  v1.Image
}

// Open is the image with this configuration and the layers in those folders, the lowest first. It is for the architecture of
// this machine.
func Open(config v1.Config, dirs ...string) (*Image, error) {
	return OpenFor(runtime.GOARCH, config, dirs...)
}

// OpenFor is the same image for another architecture.
func OpenFor(architecture string, config v1.Config, dirs ...string) (*Image, error) {
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	var layers []fileLayer
	for _, dir := range dirs {
		digest, err := Digest(dir)
		if err != nil {
			return nil, err
		}
		layer := fileLayer{file: filepath.Join(dir, layerFile), digest: v1.Hash{Algorithm: "sha256", Hex: digest}}
		if img, err = mutate.AppendLayers(img, layer); err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	// Without these two containerd takes the image for one of another machine.
	file.Architecture, file.OS = architecture, "linux"
	file.Config = config
	img, err = mutate.ConfigFile(img, file)
	return &Image{layers: layers, image: img}, err
}

// Digest is the digest of the image's manifest, by which containerd knows it.
func (i *Image) Digest() (string, error) {
	digest, err := i.image.Digest()
	return digest.String(), err
}

// Digest is the digest of the layer in that folder.
func Digest(dir string) (string, error) {
	digest, err := os.ReadFile(filepath.Join(dir, digestFile))
	return string(digest), err
}

// Push gives the image to the registry under all the names, each REPOSITORY:TAG.
// Blobs is the folder in which the registry keeps its blobs: the layers are linked
// there and not sent.
func (i *Image) Push(ctx context.Context, registry, blobs string, names ...string) error {
	for _, layer := range i.layers {
		if err := layer.link(blobs); err != nil {
			return err
		}
	}
	pusher, err := remote.NewPusher()
	if err != nil {
		return err
	}
	for n, full := range names {
		ref, err := name.ParseReference(registry+"/"+full, name.Insecure)
		if err != nil {
			return err
		}
		// The first brings the configuration; the others only name the same manifest.
		if n == 0 {
			err = pusher.Push(ctx, ref, i.image)
		} else {
			err = pusher.Put(ctx, ref, i.image)
		}
		if err != nil {
			return fmt.Errorf("pushing %s: %w", ref, err)
		}
	}
	return nil
}

// PushIndex gives images of several architectures to the registry under one name. Blobs is as for Push.
func PushIndex(ctx context.Context, registry, blobs, full string, images ...*Image) error {
	ref, err := name.ParseReference(registry+"/"+full, name.Insecure)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		for _, layer := range i.layers {
			if err := layer.link(blobs); err != nil {
				return err
			}
		}
		config, err := i.image.ConfigFile()
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: i.image, Descriptor: v1.Descriptor{Platform: config.Platform()},
		})
	}
	return remote.Push(ref, index, remote.WithContext(ctx))
}

// Publish sends the image to a registry that may be anywhere, under one name, REGISTRY/REPOSITORY:TAG. It uses the credentials of the user's
// configuration of Docker. It returns the name with the digest.
func (i *Image) Publish(ctx context.Context, full string) (string, error) {
	ref, err := name.ParseReference(full)
	if err != nil {
		return "", err
	}
	digest, err := i.Digest()
	if err != nil {
		return "", err
	}
	if err := remote.Write(ref, i.image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("pushing %s: %w", ref, err)
	}
	return full + "@" + digest, nil
}

// Share replaces the copies of the layers in a folder of blobs, where there are
// any, by the layers themselves.
func (i *Image) Share(blobs string) error {
	for _, layer := range i.layers {
		if err := os.Remove(layer.blob(blobs)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := layer.link(blobs); err != nil {
			return err
		}
	}
	return nil
}

// fileLayer is an uncompressed layer in a file: the disk is near, and
// compressing a gigabyte takes longer than anything else here.
type fileLayer struct {
	file   string
	digest v1.Hash
}

func (l fileLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l fileLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.file) }
func (l fileLayer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }
func (l fileLayer) Size() (int64, error) {
	info, err := os.Stat(l.file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// blob is the layer's place in a folder of blobs, be it the registry's or containerd's.
func (l fileLayer) blob(blobs string) string {
	return filepath.Join(blobs, l.digest.Algorithm, l.digest.Hex)
}

func (l fileLayer) link(blobs string) error {
	dest := l.blob(blobs)
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	if err := os.Link(l.file, dest); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("giving the registry %s: %w", strings.TrimSuffix(l.file, layerFile), err)
	}
	return nil
}
