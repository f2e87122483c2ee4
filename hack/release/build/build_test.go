package build_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"helm.sh/helm/v3/pkg/chart/loader"
	helmregistry "helm.sh/helm/v3/pkg/registry"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/hack/release/build"
	"github.com/firesteel-dev/firesteel/hack/release/folder"
	"github.com/firesteel-dev/firesteel/hack/release/releasetest"
)

const (
	version  = "v1.2.3-rc.1"
	original = "registry.example.com/firesteel"
)

// newRegistry returns the address of an empty registry.
func newRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func read(t *testing.T, dir folder.Dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(dir.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// manifests returns the texts of all manifests, by their names.
func manifests(t *testing.T, dir folder.Dir) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(string(dir)), ".", func(file string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".yaml" {
			found[file] = read(t, dir, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// object is what the tests read of an object.
type object struct {
	Kind     string
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Spec struct{ Group string }
}

func objects(t *testing.T, text []byte) []object {
	t.Helper()
	var all []object
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var o object
		if err := yaml.Unmarshal(document, &o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

func TestReleaseIsComplete(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	for _, file := range []string{
		"firesteel.yaml", "firesteel-crds-spark.apache.org.yaml", "firesteel-crds-sparkoperator.k8s.io.yaml",
		"firesteel-admission.yaml", "firesteel-admission-accounts.yaml", "firesteel-admission-warnings.yaml", "firesteel-archive.yaml", "firesteel-archive-eventing.yaml", "firesteel-archive-service.yaml", "firesteel-console.yaml", "firesteel-console-impersonation.yaml", "firesteel-driver-logs.yaml", "firesteel-eventing.yaml", "firesteel-history.yaml", "firesteel-other-operators.yaml", "firesteel-webhook.yaml", "firesteel-workload.yaml",
		"firesteel-1.2.3-rc.1.tgz", "kustomize/Kustomization", "kustomize/eventing/Kustomization", "kustomize/argo-cd/argocd-cm.yaml",
		"examples/pi.yaml", "examples/spark-pi.yaml",
		"manifest/spark-operator.yaml", "manifest/spark-application-example.yaml",
		"manifest/spark-application-example-gcp-service-account.yaml",
		"oci/index.json", "oci/oci-layout", "provenance.json", "checksums.txt", "push", "helmvalues", "README.md", "CHANGELOG.md", "LICENSE", "LICENSES.md",
	} {
		if _, err := os.Stat(dir.Path(file)); err != nil {
			t.Error(err)
		}
	}
	if err := dir.Verify(); err != nil {
		t.Error(err)
	}
	for _, match := range regexp.MustCompile(`(?m)^    .*$`).FindAll(read(t, dir, "README.md"), -1) {
		for _, file := range regexp.MustCompile(`\S+\.(?:yaml|tgz)\b`).FindAllString(string(match), -1) {
			if _, err := os.Stat(dir.Path(file)); err != nil && !strings.Contains(file, "$") {
				t.Errorf("README.md has the line %s: %v", match, err)
			}
		}
	}
}

// A user who has only the folder has no other page than its README.md.
func TestFolderHasTheCommandsOfThePages(t *testing.T) {
	page := string(read(t, releasetest.New(t, version, original).Folder, "README.md"))
	for file, begin := range map[string]string{"uninstall.md": "kubectl delete --ignore-not-found ", "upgrade.md": "kubectl apply --server-side -f "} {
		text, err := os.ReadFile("../../../docs/operators/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "## Roll back") {
				break
			}
			if !strings.HasPrefix(line, "    "+begin) && !strings.HasPrefix(line, "    for kind in ") {
				continue
			}
			found++
			if !strings.Contains(page, line) {
				t.Errorf("README.md does not have the line of %s: %s", file, line)
			}
		}
		if found < 2 {
			t.Errorf("%s has %d such lines", file, found)
		}
	}
}

func TestChartIsAPrereleaseIfItsVersionIs(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3-rc.1": "true", "v1.2.3": "false"} {
		dir := releasetest.New(t, version, original).Folder
		loaded, err := loader.Load(dir.Path("firesteel-" + strings.TrimPrefix(version, "v") + ".tgz"))
		if err != nil {
			t.Fatal(err)
		}
		if got := loaded.Metadata.Annotations["artifacthub.io/prerelease"]; got != want {
			t.Errorf("%s: the annotation is %q, want %s", version, got, want)
		}
		if got := loaded.Values["chartVersion"]; got != loaded.Metadata.Version {
			t.Errorf("the values are of %v, and the chart is %s", got, loaded.Metadata.Version)
		}
	}
}

func TestChartTellsArtifactHubWhatIsNew(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	loaded, err := loader.Load(dir.Path("firesteel-1.2.3-rc.1.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	var changes []struct{ Kind, Description string }
	if err := yaml.UnmarshalStrict([]byte(loaded.Metadata.Annotations["artifacthub.io/changes"]), &changes); err != nil {
		t.Fatal(err)
	}
	_, news, _ := strings.Cut(string(read(t, dir, "CHANGELOG.md")), "\n## Unreleased\n")
	news, _, _ = strings.Cut(news, "\n## ")
	if want := strings.Count(news, "\n- "); len(changes) != want || want == 0 {
		t.Errorf("there are %d changes, and the changelog has %d", len(changes), want)
	}
	for _, one := range changes {
		if one.Kind == "" || one.Description == "" || strings.Contains(one.Description, "](") {
			t.Errorf("a change is %+v", one)
		}
	}
}

// push needs these repositories, and not every registry creates them.
func TestPageListsTheRepositoriesOfARelease(t *testing.T) {
	artefacts, err := releasetest.New(t, version, original).Folder.Artefacts()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/operators/release.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, artefact := range artefacts {
		if !bytes.Contains(page, []byte("`"+artefact.Repository+"`")) {
			t.Errorf("the page does not list %s", artefact.Repository)
		}
	}
}

func TestManifestsNameImagesByDigestAndObjectsHaveTheVersion(t *testing.T) {
	release := releasetest.New(t, version, original)
	artefacts, err := release.Folder.Artefacts()
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`(?m)^\s+(?:- )?image: (\S+)$`)
	for file, text := range manifests(t, release.Folder) {
		for _, match := range images.FindAllSubmatch(text, -1) {
			image := string(match[1])
			if strings.HasPrefix(image, `"`) || strings.HasPrefix(file, "manifest/spark-application-") || strings.HasPrefix(file, "examples/") {
				continue // an example's image of Spark
			}
			if strings.HasSuffix(file, "history.yaml") && strings.HasPrefix(image, "apache/spark:") {
				continue // the History Server is Spark's own
			}
			if !slices.ContainsFunc(artefacts, func(a folder.Artefact) bool {
				return image == original+"/"+a.Repository+"@"+a.Digest.String()
			}) {
				t.Errorf("%s has the image %s, which is not in the release", file, image)
			}
		}
		if strings.Contains(string(text), ": ko://") {
			t.Errorf("%s has an image that ko would build", file)
		}
		for _, o := range objects(t, text) {
			if o.Metadata.Labels["app.kubernetes.io/part-of"] != "" && o.Metadata.Labels["app.kubernetes.io/version"] != version {
				t.Errorf("%s: %s %s has no version in its labels %v", file, o.Kind, o.Metadata.Name, o.Metadata.Labels)
			}
		}
	}
}

func TestCRDsAreInTheFileOfTheirAPIOnly(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	groups := map[string][]string{
		"firesteel.yaml":                           nil,
		"firesteel-crds-spark.apache.org.yaml":     {"firesteel.dev", "spark.apache.org"},
		"firesteel-crds-sparkoperator.k8s.io.yaml": {"sparkoperator.k8s.io"},
		"manifest/spark-operator.yaml":             {"sparkoperator.k8s.io"},
	}
	for file, want := range groups {
		var got []string
		for _, o := range objects(t, read(t, dir, file)) {
			if o.Kind == "CustomResourceDefinition" {
				got = append(got, o.Spec.Group)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s has CRDs of %v, want %v", file, got, want)
		}
	}
}

func TestOptionHasOnlyWhatItSetsOfAConfigMapOfTheBase(t *testing.T) {
	var configMap struct {
		Metadata struct{ Labels map[string]string }
		Data     map[string]string
	}
	for _, document := range bytes.Split(read(t, releasetest.New(t, version, original).Folder, "firesteel-eventing.yaml"), []byte("\n---\n")) {
		if bytes.Contains(document, []byte("name: config-handlers")) {
			if err := yaml.Unmarshal(document, &configMap); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{"restart": "external", "ttl": "external", "schedule": "external"}
	if !maps.Equal(configMap.Data, want) || len(configMap.Metadata.Labels) > 0 {
		t.Errorf("config-handlers has the data %v and the labels %v, want %v alone", configMap.Data, configMap.Metadata.Labels, want)
	}
}

func TestPushCopiesEverythingAndNamesTheRegistry(t *testing.T) {
	release := releasetest.New(t, version, original)
	dir, host := release.Folder, newRegistry(t)
	before, err := dir.Artefacts()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{host + "/mirror", host + "/another/one"} {
		var printed bytes.Buffer
		if err := dir.Push(t.Context(), folder.Target{Registry: target}, &printed); err != nil {
			t.Fatal(err)
		}
		for file, text := range manifests(t, dir) {
			if bytes.Contains(text, []byte(original)) && file != "provenance.json" {
				t.Errorf("%s still names %s", file, original)
			}
		}
		core := string(read(t, dir, "firesteel.yaml"))
		for _, artefact := range before {
			reference := target + "/" + artefact.Repository + "@" + artefact.Digest.String()
			if artefact.Repository == "controller" && !strings.Contains(core, "image: "+reference+"\n") {
				t.Errorf("firesteel.yaml does not have the image %s", reference)
			}
			if artefact.Repository != folder.ChartRepository {
				pull(t, reference)
			}
		}
		if err := dir.Verify(); err != nil {
			t.Errorf("the checksums are not those of the changed files: %v", err)
		}
		if lines := strings.Count(printed.String(), "\n"); lines != len(before) {
			t.Errorf("push printed %d lines, want one for each of %d artefacts:\n%s", lines, len(before), &printed)
		}
		checkChart(t, target, before)
	}
}

func pull(t *testing.T, reference string) {
	t.Helper()
	parsed, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(parsed)
	if err != nil {
		t.Fatalf("%s is not in the registry: %v", reference, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Errorf("%s has %d platforms, want 2: %v", reference, len(manifest.Manifests), err)
	}
}

// checkChart pulls the chart with Helm's own client.
func checkChart(t *testing.T, target string, artefacts []folder.Artefact) {
	t.Helper()
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP())
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(target + "/charts/firesteel:" + strings.TrimPrefix(version, "v"))
	if err != nil {
		t.Fatalf("helm pull: %v", err)
	}
	chart, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
	if err != nil {
		t.Fatal(err)
	}
	if chart.Metadata.Version != "1.2.3-rc.1" || chart.Metadata.AppVersion != version || chart.Metadata.KubeVersion == "" {
		t.Errorf("the chart has the metadata %+v", chart.Metadata)
	}
	got := fmt.Sprint(chart.Values["image"].(map[string]any)["registry"])
	if got != target {
		t.Errorf("the chart has the registry %s, want %s", got, target)
	}
	var images []struct{ Name, Image string }
	if err := yaml.UnmarshalStrict([]byte(chart.Metadata.Annotations["artifacthub.io/images"]), &images); err != nil {
		t.Fatal(err)
	}
	if len(images) != len(artefacts)-1 {
		t.Errorf("the annotation for Artifact Hub has the images %v, and the release has %d artefacts with the chart", images, len(artefacts))
	}
	for _, artefact := range artefacts {
		if artefact.Repository == folder.ChartRepository {
			continue
		}
		if want := (struct{ Name, Image string }{artefact.Repository, target + "/" + artefact.Repository + "@" + artefact.Digest.String()}); !slices.Contains(images, want) {
			t.Errorf("the annotation for Artifact Hub has the images %v, want %v", images, want)
		}
		found := false
		for _, section := range []any{
			chart.Values, chart.Values["hook"], chart.Values["handlers"], chart.Values["deadLetter"], chart.Values["webhook"], chart.Values["console"], chart.Values["archiveService"], chart.Values["history"],
		} {
			image := section.(map[string]any)["image"].(map[string]any)
			found = found || image["repository"] == artefact.Repository && image["digest"] == artefact.Digest.String()
		}
		if !found {
			t.Errorf("no value of the chart names %s@%s", artefact.Repository, artefact.Digest)
		}
	}
}

func TestPushRefusesADamagedFolder(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	if err := os.WriteFile(dir.Path("firesteel.yaml"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := dir.Push(t.Context(), folder.Target{Registry: newRegistry(t)}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "firesteel.yaml has the checksum") {
		t.Errorf("a damaged folder is answered with %v", err)
	}
}

// A folder in place of the file that is written next stops a push at that point.
func TestPushThatWasInterruptedIsRepeated(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	index := func() string { return string(read(t, dir, "oci/index.json")) }
	for _, stop := range []string{
		"firesteel.yaml", "oci/index.json", folder.Checksums,
	} {
		if err := os.Mkdir(dir.Path(stop+".next"), 0o755); err != nil {
			t.Fatal(err)
		}
		before := index()
		if err := dir.Push(t.Context(), folder.Target{Registry: newRegistry(t)}, io.Discard); err == nil {
			t.Fatalf("%s: nothing stops the push", stop)
		}
		if err := os.Remove(dir.Path(stop + ".next")); err != nil {
			t.Fatal(err)
		}
		if stop == folder.Checksums && index() == before {
			t.Errorf("%s: the push stopped early", stop)
		}
		target := newRegistry(t)
		if err := dir.Push(t.Context(), folder.Target{Registry: target}, io.Discard); err != nil {
			t.Fatalf("%s: %v", stop, err)
		}
		if err := dir.Verify(); err != nil {
			t.Errorf("%s: %v", stop, err)
		}
		artefacts, err := dir.Artefacts()
		if err != nil {
			t.Fatal(err)
		}
		checkChart(t, target, artefacts)
		if !strings.Contains(string(read(t, dir, "firesteel.yaml")), "image: "+target+"/controller@") {
			t.Errorf("%s: firesteel.yaml does not name %s", stop, target)
		}
	}
	if _, err := os.Stat(dir.Path(folder.Unfinished)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", folder.Unfinished, err)
	}
}

// A file that was damaged during the push is found, too.
func TestPushThatWasInterruptedFindsDamage(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	if err := os.Mkdir(dir.Path("oci/index.json.next"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := dir.Push(t.Context(), folder.Target{Registry: newRegistry(t)}, io.Discard); err == nil {
		t.Fatal("nothing stops the push")
	}
	if err := os.WriteFile(dir.Path("firesteel.yaml"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := dir.Verify(); err == nil || !strings.Contains(err.Error(), "firesteel.yaml has the checksum") {
		t.Errorf("a damaged folder is answered with %v", err)
	}
}

// Some registries have no paths of three parts, or only repositories that were created before.
func TestPushPutsTheChartWhereItIsAsked(t *testing.T) {
	dir, host := releasetest.New(t, version, original).Folder, newRegistry(t)
	var printed bytes.Buffer
	if err := dir.Push(t.Context(), folder.Target{Registry: host + "/org", Charts: folder.NoCharts}, &printed); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(read(t, dir, "firesteel.yaml")), "image: "+host+"/org/controller@") || strings.Contains(printed.String(), "charts") {
		t.Errorf("without the chart, push prints %s", &printed)
	}
	if err := dir.Push(t.Context(), folder.Target{Registry: host + "/org", Charts: host + "/org"}, &printed); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(printed.String(), host+"/org/firesteel:1.2.3-rc.1 sha256:") {
		t.Errorf("with a path for the chart, push prints %s", &printed)
	}
	unreachable := folder.Target{Registry: newRegistry(t), Charts: "127.0.0.1:1/org"}
	err := dir.Push(t.Context(), unreachable, &printed)
	if err == nil || !strings.Contains(err.Error(), "use -charts=no") {
		t.Errorf("a registry without the chart's repository is answered with %v", err)
	}
	if !strings.Contains(string(read(t, dir, "firesteel.yaml")), "image: "+unreachable.Registry+"/controller@") {
		t.Error("the manifests do not name the registry that has the images")
	}
}

func TestPushToTheSameRegistryChangesNothing(t *testing.T) {
	release := releasetest.New(t, version, original)
	dir, host := release.Folder, newRegistry(t)
	if err := dir.Push(t.Context(), folder.Target{Registry: host}, io.Discard); err != nil {
		t.Fatal(err)
	}
	const signature = "a signature"
	if err := os.WriteFile(dir.Path(folder.Signature), []byte(signature), 0o644); err != nil {
		t.Fatal(err)
	}
	before := string(read(t, dir, folder.Checksums))
	if err := dir.Push(t.Context(), folder.Target{Registry: host}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if string(read(t, dir, folder.Checksums)) != before || string(read(t, dir, folder.Signature)) != signature {
		t.Error("the second push changed checksums or signature")
	}
	// To another registry, the signature would be wrong.
	if err := dir.Push(t.Context(), folder.Target{Registry: newRegistry(t)}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Path(folder.Signature)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a signature of other checksums is left: %v", err)
	}
}

func TestProvenanceNamesSubjectsAndMaterials(t *testing.T) {
	dir := releasetest.New(t, version, original).Folder
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string
		Subject       []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				ExternalParameters   map[string]string
				ResolvedDependencies []struct{ Name string }
			}
		}
	}
	if err := yaml.Unmarshal(read(t, dir, "provenance.json"), &statement); err != nil {
		t.Fatal(err)
	}
	if statement.Type != "https://in-toto.io/Statement/v1" || statement.PredicateType != "https://slsa.dev/provenance/v1" {
		t.Errorf("it is a %s of the type %s", statement.Type, statement.PredicateType)
	}
	sums := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(read(t, dir, folder.Checksums))); lines.Scan(); {
		sum, file, _ := strings.Cut(lines.Text(), "  ")
		sums[file] = sum
	}
	images := 0
	for _, subject := range statement.Subject {
		if strings.Contains(subject.Name, ":") {
			images++
		} else if subject.Digest["sha256"] != sums[subject.Name] {
			t.Errorf("%s has the digest %v, want %s", subject.Name, subject.Digest, sums[subject.Name])
		}
	}
	if images != 8 {
		t.Errorf("it has %d images and charts, want 8", images)
	}
	var materials []string
	for _, material := range statement.Predicate.BuildDefinition.ResolvedDependencies {
		materials = append(materials, material.Name)
	}
	for _, want := range []string{"source", "go.sum", "tools/go.sum", "go"} {
		if !slices.Contains(materials, want) {
			t.Errorf("it names the materials %v, without %s", materials, want)
		}
	}
	if got := statement.Predicate.BuildDefinition.ExternalParameters["version"]; got != version {
		t.Errorf("it names the version %s, want %s", got, version)
	}
}

func TestVersionsAreSemantic(t *testing.T) {
	for _, wrong := range []string{"1.2.3", "v1.2", "main"} {
		release := &build.Release{Source: "../../..", Folder: folder.Dir(t.TempDir()), Version: wrong}
		if err := release.Assemble(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "want a semantic version") {
			t.Errorf("%s is answered with %v", wrong, err)
		}
	}
	got, err := build.SourceVersion(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got, "v") {
		t.Errorf("the source tree has the version %s", got)
	}
}
