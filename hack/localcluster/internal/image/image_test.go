package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// writeTestLayer writes a layer of every kind of entry.
func writeTestLayer(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	err := errors.Join(
		os.Mkdir(filepath.Join(tree, "bin"), 0o755),
		os.WriteFile(filepath.Join(tree, "bin", "run"), []byte("#!"), 0o755),
		os.Symlink("run", filepath.Join(tree, "bin", "walk")),
	)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "image")
	w, err := NewLayerWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		w.Archive(testArchive(t), func(name string, content io.Reader) (io.Reader, bool) {
			if name == "etc/passwd" {
				content = io.MultiReader(content, strings.NewReader("spark\n"))
			}
			return content, name != "dev/null"
		}),
		w.Dir("/tmp", Attributes{Mode: 0o777 | os.ModeSticky}),
		w.File("/etc/ssl/ca.crt", []byte("certificate"), Attributes{Mode: 0o644}),
		w.Tree(tree, "/opt/spark", 185),
		w.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func testArchive(t *testing.T) io.Reader {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, name := range []string{"./etc/", "./etc/passwd", "./dev/null"} {
		header := &tar.Header{Name: name, Mode: 0o644, Size: 5, Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			header.Typeflag, header.Size = tar.TypeDir, 0
		}
		err := w.WriteHeader(header)
		if header.Size > 0 {
			_, err = io.WriteString(w, "root\n")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &archive
}

func TestALayerHasItsFilesAndItsDigest(t *testing.T) {
	dir := writeTestLayer(t)
	data, err := os.ReadFile(filepath.Join(dir, layerFile))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if digest, err := os.ReadFile(filepath.Join(dir, digestFile)); err != nil || string(digest) != hex.EncodeToString(sum[:]) {
		t.Errorf("digest is %s, %v", digest, err)
	}
	var names []string
	for reader := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		content, _ := io.ReadAll(reader)
		switch header.Name {
		case "etc/passwd":
			if string(content) != "root\nspark\n" {
				t.Errorf("etc/passwd holds %q", content)
			}
		case "tmp/":
			if header.Mode != 0o1777 {
				t.Errorf("tmp has mode %o", header.Mode)
			}
		case "opt/spark/bin/run":
			if header.Mode != 0o755 || header.Uid != 185 || header.Gid != 185 {
				t.Errorf("run is %+v", header)
			}
		}
	}
	want := []string{
		"etc/", "etc/passwd", "tmp/", "etc/ssl/", "etc/ssl/ca.crt",
		"opt/", "opt/spark/", "opt/spark/bin/", "opt/spark/bin/run", "opt/spark/bin/walk",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q\nwant %q", names, want)
	}
}

func TestPushStoresAnImageUnderEachTag(t *testing.T) {
	blobs := t.TempDir()
	server := httptest.NewServer(registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	img, err := Open(v1.Config{User: "185"}, writeTestLayer(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := img.Push(t.Context(), host, blobs, "apache/spark:1", "library/spark:2"); err != nil {
		t.Fatal(err)
	}
	var digests []v1.Hash
	for _, tag := range []string{"apache/spark:1", "library/spark:2"} {
		ref, err := name.ParseReference(host + "/" + tag)
		if err != nil {
			t.Fatal(err)
		}
		got, err := remote.Image(ref)
		if err != nil {
			t.Fatal(err)
		}
		config, err := got.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS != "linux" || config.Architecture == "" || config.Config.User != "185" || len(config.RootFS.DiffIDs) != 1 {
			t.Errorf("configuration of %s: %+v", tag, config)
		}
		digest, err := got.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("the two names are different images: %v", digests)
	}
}

func TestPublishSendsTheLayersAndReturnsTheDigest(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	img, err := Open(v1.Config{User: "185"}, writeTestLayer(t))
	if err != nil {
		t.Fatal(err)
	}
	full := strings.TrimPrefix(server.URL, "http://") + "/team/spark:1"
	published, err := img.Publish(t.Context(), full)
	if err != nil || !strings.HasPrefix(published, full+"@sha256:") {
		t.Fatalf("it is published as %s, %v", published, err)
	}
	ref, err := name.ParseReference(published)
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Image(ref)
	if err == nil {
		err = validate.Image(got, validate.Fast)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestArchiveHoldsTheImageUnderItsName(t *testing.T) {
	img, err := Open(v1.Config{User: "185"}, writeTestLayer(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := img.WriteArchive(file, "docker.io/library/spark:1"); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	folder := t.TempDir()
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the index is %+v, %v", manifest, err)
	}
	found := manifest.Manifests[0]
	if found.Annotations["io.containerd.image.name"] != "docker.io/library/spark:1" || found.Annotations["org.opencontainers.image.ref.name"] != "1" {
		t.Errorf("it is named %v", found.Annotations)
	}
	got, err := index.Image(found.Digest)
	if err == nil {
		err = validate.Image(got, validate.Fast)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestPushIndex(t *testing.T) {
	blobs := t.TempDir()
	server := httptest.NewServer(registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	layer := writeTestLayer(t)
	var images []*Image
	for _, architecture := range []string{"amd64", "arm64"} {
		img, err := OpenFor(architecture, v1.Config{User: "185"}, layer)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, img)
	}
	if err := PushIndex(t.Context(), host, blobs, "base:1", images...); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(host + "/base:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		got, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
		if err != nil {
			t.Fatal(err)
		}
		config, err := got.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != architecture || config.Config.User != "185" {
			t.Errorf("the image for %s has the configuration %+v", architecture, config)
		}
	}
}
