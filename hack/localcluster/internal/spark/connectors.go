package spark

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// hadoopVersion is that of the default release. The class of s3a must be of the same.
const hadoopVersion = "3.4.2"

// The connectors are the jars with which Spark reads and writes object storage: s3a with Amazon's library in the version that Hadoop names, and
// gs with all that it needs.
var (
	s3aJar    = jar{group: "org.apache.hadoop", name: "hadoop-aws", version: hadoopVersion, digest: "d2d24e6b715b5656b9d238bf13b6682a07e2004dd36aad74a73aeb854319f4d9"}
	amazonJar = jar{group: "software.amazon.awssdk", name: "bundle", version: "2.29.52", digest: "62638f33045690c6bc5e496b54b0b2e89a9ad38cbedacdf6e017fea6bc85f55c"}
	gsJar     = jar{
		group: "com.google.cloud.bigdataoss", name: "gcs-connector", version: "hadoop3-2.2.26", classifier: "shaded",
		digest: "cbaa2773283c2237f933f48deb77a6f912619e367b26efe186aee74f4b35d89c",
	}
	connectors = []jar{s3aJar, amazonJar, gsJar}
)

// amazonServices are the services of Amazon's library that s3a can use. The jar has some 400, in 640 MB.
var amazonServices = []string{"kms", "s3", "s3control", "sso", "ssooidc", "sts"}

const connectorsLayer = "images/connectors"

// BuildConnectors has the layer with the connectors in the cache. The default release is installed.
func BuildConnectors(ctx context.Context, t *step.Task, c cache.Dir) error {
	home := c.Path(Default.home())
	if _, err := os.Stat(filepath.Join(home, "jars", "hadoop-client-api-"+hadoopVersion+".jar")); err != nil {
		return fmt.Errorf("the connectors are for Hadoop %s, which Spark %s does not have: name those of its Hadoop: %w", hadoopVersion, Default.Version, err)
	}
	key := []string{strings.Join(amazonServices, ","), "layer 1"}
	for _, j := range connectors {
		key = append(key, j.digest)
	}
	_, err := c.Ensure(connectorsLayer, cache.Key(key...), func(dest string) error {
		t.Say("downloading the connectors of S3 and Google Cloud Storage (680 MB)")
		jars, err := os.MkdirTemp("", "connectors-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(jars)
		if err := fetchJars(ctx, t, home, jars, connectors...); err != nil {
			return err
		}
		if err := keepServices(filepath.Join(jars, amazonJar.file()), amazonServices); err != nil {
			return err
		}
		w, err := image.NewLayerWriter(dest)
		if err != nil {
			return err
		}
		return errors.Join(addConnectors(w, jars), w.Close())
	})
	return err
}

// addConnectors adds the jars of a folder to a layer. The folders above keep the owner that they have in the layer of Spark.
func addConnectors(w *image.LayerWriter, jars string) error {
	for _, folder := range []string{"/opt/spark", "/opt/spark/jars"} {
		if err := w.Dir(folder, image.Attributes{Mode: 0o755, Owner: sparkID}); err != nil {
			return err
		}
	}
	for _, j := range connectors {
		content, err := os.ReadFile(filepath.Join(jars, j.file()))
		if err != nil {
			return err
		}
		if err := w.File("/opt/spark/jars/"+j.file(), content, image.Attributes{Mode: 0o644, Owner: sparkID}); err != nil {
			return err
		}
	}
	return nil
}

// ImageWithConnectors is the image of the default release with the connectors. Its layers are in the cache.
func ImageWithConnectors(c cache.Dir) (*image.Image, error) {
	return image.Open(config, DebianLayer(c), c.Path(Default.Layer()), c.Path(connectorsLayer))
}

// keepServices removes the other services from a jar of Amazon's library. Entries of folders, which classes need not, are left out, too: they have
// content in that jar, which cannot be copied.
func keepServices(file string, services []string) error {
	source, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer source.Close()
	kept, err := os.Create(file + ".partial")
	if err != nil {
		return err
	}
	w := zip.NewWriter(kept)
	for _, entry := range source.File {
		service, of := serviceOf(entry.Name)
		if entry.FileInfo().IsDir() || of && !slices.Contains(services, service) {
			continue
		}
		if err := w.Copy(entry); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", entry.Name, err), kept.Close())
		}
	}
	return errors.Join(w.Close(), kept.Close(), os.Rename(kept.Name(), file))
}

// serviceOf returns the service to which an entry of Amazon's library belongs.
func serviceOf(entry string) (service string, of bool) {
	below, of := strings.CutPrefix(entry, "software/amazon/awssdk/services/")
	if !of {
		return "", false
	}
	service, _, of = strings.Cut(below, "/")
	return service, of
}
