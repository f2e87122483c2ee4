package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Target is the registry that a release is copied to.
type Target struct {
	// Registry is its address, with the path below which the repositories are.
	Registry string
	// Charts is the path below which the chart's repository is. Empty is charts below Registry, and NoCharts is nowhere.
	Charts string
	// Insecure has it spoken to without TLS.
	Insecure bool
	Options  []remote.Option
}

// NoCharts leaves the chart in the folder.
const NoCharts = "no"

// reference returns the reference of an artefact in the registry.
func (t Target) reference(artefact Artefact) string {
	if artefact.Repository == ChartRepository && t.Charts != "" {
		artefact.Repository = path.Base(ChartRepository)
		return strings.TrimSuffix(t.Charts, "/") + "/" + artefact.Name()
	}
	return t.Registry + "/" + artefact.Name()
}

// Push copies all images to a registry, by digest, and then names that registry in the manifests and in the chart. At last it copies the
// chart, which not every registry can hold. What becomes of each artefact is printed.
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
	moved, err := chart.move(to.Registry, artefacts)
	if err != nil {
		return err
	}
	pusher, err := remote.NewPusher(append(to.Options, remote.WithContext(ctx))...)
	if err != nil {
		return err
	}
	ofChart := func(artefact Artefact) bool { return artefact.Repository == ChartRepository }
	for _, artefact := range slices.DeleteFunc(slices.Clone(artefacts), ofChart) {
		if err := to.push(ctx, pusher, artefact, out); err != nil {
			return err
		}
	}
	if err := d.move(to.Registry, artefacts, chart, moved); err != nil || to.Charts == NoCharts {
		return err
	}
	if artefacts, err = d.Artefacts(); err != nil {
		return err
	}
	for _, artefact := range artefacts {
		if !ofChart(artefact) {
			continue
		}
		if err := to.push(ctx, pusher, artefact, out); err != nil {
			return fmt.Errorf("the images are copied, and the manifests name them; the chart is not copied, use -charts=%s or name a path for it: %w", NoCharts, err)
		}
	}
	return nil
}

func (t Target) push(ctx context.Context, pusher *remote.Pusher, artefact Artefact, out io.Writer) error {
	var options []name.Option
	if t.Insecure {
		options = append(options, name.Insecure)
	}
	reference := t.reference(artefact)
	parsed, err := name.ParseReference(reference, options...)
	if err != nil {
		return fmt.Errorf("%s is no name in a registry: %w", reference, err)
	}
	if err := pusher.Push(ctx, parsed, artefact.content); err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	_, err = fmt.Fprintf(out, "%s %s\n", reference, artefact.Digest)
	return err
}

// move names the registry in all files. Interrupted at any point, it leaves a folder that a later move completes: before the first change it
// writes down which checksums files may have meanwhile.
func (d Dir) move(registry string, artefacts []Artefact, chart Chart, moved bool) error {
	changed, err := d.renamed(registry, artefacts)
	if err != nil {
		return err
	}
	unfinished, err := d.unfinished()
	if err != nil || !moved && len(changed) == 0 && len(unfinished) == 0 {
		return err
	}
	staged, err := d.stageChart(chart)
	if err != nil {
		return err
	}
	maps.Copy(changed, staged)
	if err := d.begin(changed); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if err := d.write(name, changed[name]); err != nil {
			return err
		}
	}
	if err := d.Collect(); err != nil {
		return err
	}
	// It signs the earlier checksums.
	if err := os.Remove(d.Path(Signature)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.Sum(); err != nil {
		return err
	}
	return os.Remove(d.Path(Unfinished))
}

// renamed returns the manifests that change if the registry is another, by their names.
func (d Dir) renamed(registry string, artefacts []Artefact) (map[string][]byte, error) {
	manifests, err := d.manifests()
	if err != nil {
		return nil, err
	}
	changed := map[string][]byte{}
	for _, manifest := range manifests {
		text, err := os.ReadFile(d.Path(manifest))
		if err != nil {
			return nil, err
		}
		if rewritten := Rename(text, registry, artefacts); !bytes.Equal(rewritten, text) {
			changed[manifest] = rewritten
		}
	}
	return changed, nil
}

// stageChart returns the files of a chart, and the layout's index with the chart in it, by their names. The chart's former signature is no part
// of the index.
func (d Dir) stageChart(chart Chart) (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "firesteel-chart-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	stage := Dir(folder)
	if err := os.Mkdir(stage.Path(Layout), 0o755); err != nil {
		return nil, err
	}
	for _, name := range []string{Layout + "/index.json", Layout + "/oci-layout"} {
		text, err := os.ReadFile(d.Path(name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(stage.Path(name), text, 0o644); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(stage.Remove(ChartRepository), stage.WriteChart(chart)); err != nil {
		return nil, err
	}
	names, err := stage.Files()
	if err != nil {
		return nil, err
	}
	staged := map[string][]byte{}
	for _, name := range names {
		if staged[name], err = os.ReadFile(stage.Path(name)); err != nil {
			return nil, err
		}
	}
	return staged, nil
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

// move names the registry in the values of the chart, and in the annotation with its images. It reports whether it was another.
func (c Chart) move(registry string, artefacts []Artefact) (bool, error) {
	values, metadata := c[valuesFile], c[metadataFile]
	c[metadataFile] = Rename(metadata, registry, artefacts)
	err := c.SetRegistry(registry)
	return !bytes.Equal(values, c[valuesFile]) || !bytes.Equal(metadata, c[metadataFile]), err
}

// SetRegistry sets the value that names the registry of all images.
func (c Chart) SetRegistry(registry string) error {
	return c.Set(valuesFile, map[string]string{"image.registry": registry})
}
