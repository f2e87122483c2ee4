package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/crds"
	"sigs.k8s.io/yaml"
)

const (
	configFolder = "config"
	chartFolder  = "charts/firesteel"
	// driverRole is the role of drivers. They go on after firesteel.yaml is deleted, so it is in firesteel-workload.yaml.
	driverRole = configFolder + "/202-spark-driver-clusterrole.yaml"
	// manifestFolder has the names of the first Spark operator's manifests, and is installed by one kubectl create.
	manifestFolder = "manifest"
	// manifestAPI is the API of its examples. It is the only one there, so that sparkapplications means its kind.
	manifestAPI = "sparkoperator.k8s.io"
)

// kustomization is what is read of a kustomization or a component.
type kustomization struct {
	Resources []string `json:"resources"`
	Patches   []struct {
		Path string `json:"path"`
	} `json:"patches"`
}

// patchesComponents reports whether it patches objects that another component brings: such a patch is no file.
func (k kustomization) patchesComponents() bool {
	for _, patch := range k.Patches {
		if patch.Path == "" {
			return true
		}
	}
	return false
}

// writeManifests writes all manifests and the kustomize base.
func (r *Release) writeManifests() error {
	crdFiles, err := r.crdFiles()
	if err != nil {
		return err
	}
	base, err := r.kustomization(configFolder)
	if err != nil {
		return err
	}
	var core []string
	for _, resource := range base.Resources {
		file := path.Join(configFolder, resource)
		if !slices.Contains(slices.Collect(maps.Values(crdFiles)), file) {
			core = append(core, file)
		}
	}
	ofAPI, err := filesByAPI(crdFiles)
	if err != nil {
		return err
	}
	controller := slices.DeleteFunc(slices.Clone(core), func(file string) bool { return file == driverRole })
	written := []error{r.writeJoined("firesteel.yaml", controller)}
	for api, files := range ofAPI {
		written = append(written, r.writeJoined("firesteel-crds-"+api+".yaml", files))
	}
	early := slices.Concat(core, ofAPI[manifestAPI], []string{configFolder + "/workload/rbac.yaml"})
	written = append(written, r.writeJoined(manifestFolder+"/spark-operator.yaml", early), r.writeJoined("examples/pi.yaml", []string{"examples/pi.yaml"}),
		r.writeOptIns(), r.copyTo("kustomize", configFolder), r.copyTo(manifestFolder, "examples/manifest"), r.copyTo("examples", "examples/kubeflow"))
	return errors.Join(written...)
}

// crdFiles returns the files of all CRDs, by the names of the CRDs. Those of an API that is optional may be in a folder of config.
func (r *Release) crdFiles() (map[string]string, error) {
	files, err := r.config()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, file := range files {
		text, err := r.read(file)
		if err != nil {
			return nil, err
		}
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal(text, &object); err == nil && object.Kind == "CustomResourceDefinition" {
			found[object.Metadata.Name] = file
		}
	}
	return found, nil
}

// filesByAPI returns the files of each API's CRDs.
func filesByAPI(files map[string]string) (map[string][]string, error) {
	ofAPI := map[string][]string{}
	for _, api := range crds.APIs() {
		found, err := crds.Of(api)
		if err != nil {
			return nil, err
		}
		for _, crd := range found {
			file := files[crd.GetName()]
			if file == "" {
				return nil, fmt.Errorf("%s lacks the CRD %s", configFolder, crd.GetName())
			}
			ofAPI[api] = append(ofAPI[api], file)
		}
	}
	return ofAPI, nil
}

// writeOptIns writes a manifest for each folder of config that has objects: firesteel-eventing.yaml and others. In the folder kustomize
// alone is what only patches objects of another system, such as Argo CD, and what patches the objects of another component.
func (r *Release) writeOptIns() error {
	entries, err := os.ReadDir(filepath.Join(r.Source, configFolder))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		component := path.Join(configFolder, entry.Name())
		optIn, err := r.kustomization(component)
		if err != nil {
			return err
		}
		if len(optIn.Resources) == 0 || optIn.patchesComponents() {
			continue
		}
		var documents [][]byte
		if entry.Name() == "workload" {
			text, err := r.manifest(driverRole)
			if err != nil {
				return err
			}
			documents = append(documents, text)
		}
		for _, resource := range optIn.Resources {
			text, err := r.manifest(path.Join(component, resource))
			if err != nil {
				return err
			}
			documents = append(documents, text)
		}
		for _, patch := range optIn.Patches {
			text, err := r.patched(path.Join(component, patch.Path))
			if err != nil {
				return err
			}
			documents = append(documents, text)
		}
		if err := r.write("firesteel-"+entry.Name()+".yaml", join(documents)); err != nil {
			return err
		}
	}
	return nil
}

// patched returns what a component sets in a ConfigMap of the base, and nothing else: each option is applied by a field manager of its own, and
// shares the ConfigMap with firesteel.yaml and with other options. A label with the version would be a conflict at the next upgrade.
func (r *Release) patched(file string) ([]byte, error) {
	text, err := r.read(file)
	if err != nil {
		return nil, err
	}
	var patch struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Data map[string]string `json:"data"`
	}
	if err := yaml.Unmarshal(r.resolve(text), &patch); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if patch.Kind != "ConfigMap" || len(patch.Data) == 0 {
		return nil, fmt.Errorf("%s patches an object that is no ConfigMap with data", file)
	}
	return yaml.Marshal(patch)
}

func (r *Release) kustomization(dir string) (kustomization, error) {
	text, err := r.read(path.Join(dir, "Kustomization"))
	if err != nil {
		return kustomization{}, err
	}
	var parsed kustomization
	err = yaml.Unmarshal(text, &parsed)
	return parsed, err
}

// config returns the paths of all manifests of config.
func (r *Release) config() ([]string, error) {
	var files []string
	err := fs.WalkDir(os.DirFS(r.Source), configFolder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(file) == ".yaml" {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

// copyTo copies a folder with its manifests and kustomizations.
func (r *Release) copyTo(name, from string) error {
	return fs.WalkDir(os.DirFS(r.Source), from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) == ".go" {
			return err
		}
		text, err := r.manifest(file)
		if err != nil {
			return err
		}
		return r.write(path.Join(name, strings.TrimPrefix(file, from)), text)
	})
}

func (r *Release) writeJoined(name string, files []string) error {
	var documents [][]byte
	for _, file := range files {
		text, err := r.manifest(file)
		if err != nil {
			return err
		}
		documents = append(documents, text)
	}
	return r.write(name, join(documents))
}

func join(documents [][]byte) []byte {
	for i, document := range documents {
		documents[i] = append(bytes.TrimSpace(document), '\n')
	}
	return bytes.Join(documents, []byte("---\n"))
}

// partOf is the label of an object. Those of a Pod template and of a selector are indented more: the version must not be in
// a selector, which cannot be changed.
var partOf = regexp.MustCompile(`(?m)^    app\.kubernetes\.io/part-of: firesteel$`)

// manifest reads a manifest, with the version as a label and images by digest.
func (r *Release) manifest(file string) ([]byte, error) {
	text, err := r.read(file)
	if err != nil {
		return nil, err
	}
	text = partOf.ReplaceAll(text, fmt.Appendf(nil, "$0\n    app.kubernetes.io/version: %q", r.Version))
	return r.resolve(text), nil
}

// resolve replaces what ko would build by the images that were built.
func (r *Release) resolve(text []byte) []byte {
	for _, image := range r.images {
		text = bytes.ReplaceAll(text, []byte("ko://"+image.pkg+"\n"),
			fmt.Appendf(nil, "%s/%s@%s\n", r.Registry, image.repository, image.digest))
	}
	return text
}
