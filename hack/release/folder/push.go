package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Target is the registry that a release is copied to.
type Target struct {
	// Registry is its address, with the path below which the repositories are.
	Registry string
	// Insecure has it spoken to without TLS.
	Insecure bool
	Options  []remote.Option
}

// Push copies all artefacts to a registry, by digest, and then names that registry in the manifests and in the chart. What
// becomes of each artefact is printed.
func (d Dir) Push(ctx context.Context, to Target, out io.Writer) error {
	to.Registry = strings.TrimSuffix(to.Registry, "/")
	if err := d.Verify(); err != nil {
		return err
	}
	artefacts, err := d.Artefacts()
	if err != nil {
		return err
	}
	chart, err := d.readChart()
	if err != nil {
		return err
	}
	moved, err := chart.move(to.Registry)
	if err != nil {
		return err
	}
	pusher, err := remote.NewPusher(append(to.Options, remote.WithContext(ctx))...)
	if err != nil {
		return err
	}
	for _, artefact := range artefacts {
		if artefact.Repository == ChartRepository && moved {
			continue // with its signature, which is that of another chart
		}
		if err := to.push(ctx, pusher, artefact, out); err != nil {
			return err
		}
	}
	if moved {
		artefact, err := chart.artefact()
		if err != nil {
			return err
		}
		if err := to.push(ctx, pusher, artefact, out); err != nil {
			return err
		}
	}
	return d.move(to.Registry, artefacts, chart, moved)
}

func (t Target) push(ctx context.Context, pusher *remote.Pusher, artefact Artefact, out io.Writer) error {
	var options []name.Option
	if t.Insecure {
		options = append(options, name.Insecure)
	}
	reference := t.Registry + "/" + artefact.Name()
	parsed, err := name.ParseReference(reference, options...)
	if err != nil {
		return fmt.Errorf("%s is no name of a registry: %w", t.Registry, err)
	}
	if err := pusher.Push(ctx, parsed, artefact.content); err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	_, err = fmt.Fprintf(out, "%s %s\n", reference, artefact.Digest)
	return err
}

// move names the registry in all files. The checksums come last: until then, the folder is refused as damaged.
func (d Dir) move(registry string, artefacts []Artefact, chart Chart, moved bool) error {
	manifests, err := d.manifests()
	if err != nil {
		return err
	}
	for _, manifest := range manifests {
		text, err := os.ReadFile(d.Path(manifest))
		if err != nil {
			return err
		}
		if rewritten := Rename(text, registry, artefacts); !bytes.Equal(rewritten, text) {
			moved = true
			if err := d.write(manifest, rewritten); err != nil {
				return err
			}
		}
	}
	if !moved {
		return nil
	}
	if err := d.Remove(ChartRepository); err != nil {
		return err
	}
	if err := d.WriteChart(chart); err != nil {
		return err
	}
	if err := d.Collect(); err != nil {
		return err
	}
	// It signs the earlier checksums.
	if err := os.Remove(d.Path(Signature)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.Sum()
}

// manifests returns the names of all manifests of the folder.
func (d Dir) manifests() ([]string, error) {
	names, err := d.Files()
	if err != nil {
		return nil, err
	}
	var manifests []string
	for _, name := range names {
		if filepath.Ext(name) == ".yaml" && !strings.HasPrefix(name, Layout+"/") {
			manifests = append(manifests, name)
		}
	}
	return manifests, nil
}

// Rename gives all images in a manifest another registry. It knows them by repository and digest.
func Rename(manifest []byte, registry string, artefacts []Artefact) []byte {
	for _, artefact := range artefacts {
		reference := artefact.Repository + "@" + artefact.Digest.String()
		pattern := regexp.MustCompile(`[^\s"']+/` + regexp.QuoteMeta(reference))
		manifest = pattern.ReplaceAllLiteral(manifest, []byte(registry+"/"+reference))
	}
	return manifest
}

// readChart reads the chart of the folder.
func (d Dir) readChart() (Chart, error) {
	found, err := filepath.Glob(d.Path("*.tgz"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("the folder has %d charts, want one *.tgz", len(found))
	}
	archive, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	return ReadChart(archive)
}

// WriteChart writes the chart's archive, and the chart in the layout.
func (d Dir) WriteChart(chart Chart) error {
	archive, err := chart.Archive()
	if err != nil {
		return err
	}
	file, err := chart.File()
	if err != nil {
		return err
	}
	if err := d.write(file, archive); err != nil {
		return err
	}
	name, image, err := chart.Image()
	if err != nil {
		return err
	}
	return d.Add(name, image)
}

// move names the registry in the values of the chart, and reports whether it was another.
func (c Chart) move(registry string) (bool, error) {
	before := c[valuesFile]
	err := c.SetRegistry(registry)
	return !bytes.Equal(before, c[valuesFile]), err
}

// SetRegistry sets the value that names the registry of all images.
func (c Chart) SetRegistry(registry string) error {
	return c.Set(valuesFile, map[string]string{"image.registry": registry})
}

func (c Chart) artefact() (Artefact, error) {
	reference, image, err := c.Image()
	if err != nil {
		return Artefact{}, err
	}
	digest, err := image.Digest()
	repository, tag, _ := strings.Cut(reference, ":")
	return Artefact{Repository: repository, Tag: tag, Digest: digest, content: image}, err
}
