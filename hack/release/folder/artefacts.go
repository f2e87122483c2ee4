package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	specsv1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Artefact is an image, a chart or a signature in the layout.
type Artefact struct {
	// Repository is the name of its repository, without the registry.
	Repository string
	// Tag is empty if it is known by its digest only, as a signature is.
	Tag    string
	Digest v1.Hash

	content Content
}

// Name returns the repository with the tag, or else with the digest.
func (a Artefact) Name() string {
	if a.Tag == "" {
		return a.Repository + "@" + a.Digest.String()
	}
	return a.Repository + ":" + a.Tag
}

// Push copies the artefact to a registry.
func (a Artefact) Push(ctx context.Context, reference name.Reference) error {
	return remote.Push(reference, a.content, remote.WithContext(ctx))
}

// Artefacts returns all artefacts of the layout.
func (d Dir) Artefacts() ([]Artefact, error) {
	index, err := layout.ImageIndexFromPath(d.Path(Layout))
	if err != nil {
		return nil, fmt.Errorf("read the images: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the images: %w", err)
	}
	var all []Artefact
	for _, descriptor := range manifest.Manifests {
		full := descriptor.Annotations[specsv1.AnnotationRefName]
		repository, _, byDigest := strings.Cut(full, "@")
		var tag string
		if !byDigest {
			repository, tag, _ = strings.Cut(full, ":")
		}
		if repository == "" {
			return nil, fmt.Errorf("%s/index.json: %s has no name", Layout, descriptor.Digest)
		}
		artefact := Artefact{Repository: repository, Tag: tag, Digest: descriptor.Digest}
		if artefact.content, err = contentOf(index, descriptor); err != nil {
			return nil, fmt.Errorf("read %s: %w", artefact.Name(), err)
		}
		all = append(all, artefact)
	}
	return all, nil
}

func contentOf(index v1.ImageIndex, descriptor v1.Descriptor) (Content, error) {
	if descriptor.MediaType.IsIndex() {
		return index.ImageIndex(descriptor.Digest)
	}
	return index.Image(descriptor.Digest)
}

// Content is what an artefact can be made of.
type Content interface {
	remote.Taggable
	partial.Describable
}

// Add adds an artefact to the layout, with the name that it has as an [Artefact]. An artefact that has this name is replaced.
func (d Dir) Add(name string, content Content) error {
	path, err := layout.FromPath(d.Path(Layout))
	if errors.Is(err, fs.ErrNotExist) {
		path, err = layout.Write(d.Path(Layout), empty.Index)
	}
	if err != nil {
		return err
	}
	named := func(descriptor v1.Descriptor) bool { return descriptor.Annotations[specsv1.AnnotationRefName] == name }
	annotation := layout.WithAnnotations(map[string]string{specsv1.AnnotationRefName: name})
	switch content := content.(type) {
	case v1.ImageIndex:
		return path.ReplaceIndex(content, named, annotation)
	case v1.Image:
		return path.ReplaceImage(content, named, annotation)
	}
	return fmt.Errorf("%s is neither an image nor an index", name)
}

// Remove removes the artefacts of a repository from the layout.
func (d Dir) Remove(repository string) error {
	path, err := layout.FromPath(d.Path(Layout))
	if err != nil {
		return err
	}
	return path.RemoveDescriptors(func(descriptor v1.Descriptor) bool {
		name := descriptor.Annotations[specsv1.AnnotationRefName]
		return strings.HasPrefix(name, repository+":") || strings.HasPrefix(name, repository+"@")
	})
}

// Collect removes what no artefact of the layout refers to.
func (d Dir) Collect() error {
	path, err := layout.FromPath(d.Path(Layout))
	if err != nil {
		return err
	}
	unused, err := path.GarbageCollect()
	if err != nil {
		return err
	}
	for _, digest := range unused {
		if err := os.Remove(d.Path(Layout, "blobs", digest.Algorithm, digest.Hex)); err != nil {
			return err
		}
	}
	return nil
}
