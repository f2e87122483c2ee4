package folder

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	specsv1 "github.com/opencontainers/image-spec/specs-go/v1"
	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

const (
	// ChartRepository is the repository of the chart in a registry. Helm wants the chart's name as the last part.
	ChartRepository = "charts/firesteel"

	metadataFile = "Chart.yaml"
	valuesFile   = "values.yaml"
)

// The media types that Helm gives the parts of a chart in a registry.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Chart holds the files of a Helm chart, by their names.
type Chart map[string][]byte

// ReadChart reads a chart's archive.
func ReadChart(archive []byte) (Chart, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	chart := Chart{}
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return chart, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the chart: %w", err)
		}
		_, name, _ := strings.Cut(header.Name, "/")
		if chart[name], err = io.ReadAll(reader); err != nil {
			return nil, fmt.Errorf("read %s of the chart: %w", header.Name, err)
		}
	}
}

// Archive returns the archive of the chart. The same files make the same bytes.
func (c Chart) Archive() ([]byte, error) {
	metadata, err := c.metadata()
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	writer := tar.NewWriter(compressed)
	// Helm reads the metadata first.
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(c)), func(name string) bool { return name == metadataFile })
	for _, name := range append([]string{metadataFile}, names...) {
		header := &tar.Header{Name: metadata.Name + "/" + name, Mode: 0o644, Size: int64(len(c[name])), Typeflag: tar.TypeReg}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(c[name]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(writer.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}

// File returns the name of the chart's archive.
func (c Chart) File() (string, error) {
	metadata, err := c.metadata()
	return metadata.Name + "-" + metadata.Version + ".tgz", err
}

// Image returns the chart as Helm stores it in a registry, and the name of it: the repository with the tag.
func (c Chart) Image() (string, v1.Image, error) {
	metadata, err := c.metadata()
	if err != nil {
		return "", nil, err
	}
	archive, err := c.Archive()
	if err != nil {
		return "", nil, err
	}
	config, err := sigsyaml.YAMLToJSON(c[metadataFile])
	if err != nil {
		return "", nil, err
	}
	image, err := newChartImage(metadata, config, archive)
	if err != nil {
		return "", nil, err
	}
	// A plus is not allowed in tags. Helm reads the underscore as a plus.
	return ChartRepository + ":" + strings.ReplaceAll(metadata.Version, "+", "_"), image, nil
}

type chartMetadata struct {
	Name        string `yaml:"name"`
	Version     string `yaml:"version"`
	Description string `yaml:"description"`
}

func (c Chart) metadata() (metadata chartMetadata, err error) {
	err = yaml.Unmarshal(c[metadataFile], &metadata)
	if err == nil && (metadata.Name == "" || metadata.Version == "") {
		err = errors.New("it has no name or no version")
	}
	if err != nil {
		err = fmt.Errorf("%s of the chart: %w", metadataFile, err)
	}
	return metadata, err
}

// Set writes values into values.yaml, or into another file of the chart. A key is the path of a value, with dots. The rest of the
// file stays as it is.
func (c Chart) Set(file string, values map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		changed, err := setScalar(c[file], strings.Split(key, "."), values[key])
		if err != nil {
			return fmt.Errorf("%s of the chart: %s: %w", file, key, err)
		}
		c[file] = changed
	}
	return nil
}

func setScalar(text []byte, path []string, value string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	node := &document
	if node.Kind == yaml.DocumentNode {
		node = node.Content[0]
	}
	for _, key := range path {
		if node = child(node, key); node == nil {
			return nil, fmt.Errorf("there is no %q", key)
		}
	}
	if node.Kind != yaml.ScalarNode {
		return nil, errors.New("it is no scalar")
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	line := lines[node.Line-1]
	lines[node.Line-1] = slices.Concat(line[:node.Column-1], quoted, []byte("\n"))
	return bytes.Join(lines, nil), nil
}

func child(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Kind == yaml.MappingNode && node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// chartImage is a chart as Helm stores it in a registry.
type chartImage struct {
	manifest, config []byte
	content          v1.Layer
	digest           v1.Hash
}

func newChartImage(metadata chartMetadata, config, archive []byte) (v1.Image, error) {
	image := &chartImage{config: config, content: static.NewLayer(archive, chartContent)}
	configDigest, configSize, err := v1.SHA256(bytes.NewReader(config))
	if err != nil {
		return nil, err
	}
	if image.digest, err = image.content.Digest(); err != nil {
		return nil, err
	}
	image.manifest, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2,
		MediaType:     types.OCIManifestSchema1,
		Config:        v1.Descriptor{MediaType: chartConfig, Size: configSize, Digest: configDigest},
		Layers:        []v1.Descriptor{{MediaType: chartContent, Size: int64(len(archive)), Digest: image.digest}},
		Annotations: map[string]string{
			specsv1.AnnotationTitle:       metadata.Name,
			specsv1.AnnotationVersion:     metadata.Version,
			specsv1.AnnotationDescription: metadata.Description,
		},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(image)
}

func (i *chartImage) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (i *chartImage) RawManifest() ([]byte, error)        { return i.manifest, nil }
func (i *chartImage) RawConfigFile() ([]byte, error)      { return i.config, nil }

func (i *chartImage) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	if digest != i.digest {
		return nil, fmt.Errorf("the chart has no part %s", digest)
	}
	return i.content, nil
}
