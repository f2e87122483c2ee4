package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	provenancev1 "github.com/in-toto/attestation/go/predicates/provenance/v1"
	statementv1 "github.com/in-toto/attestation/go/v1"
	specsv1 "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

const (
	// provenanceFile says from what the release was built, as SLSA provenance in an in-toto statement.
	provenanceFile = "provenance.json"

	repository = "https://github.com/firesteel-dev/firesteel"
	buildType  = repository + "/tree/main/hack/release"
	// builder is the user who runs make release on a machine of their own: no service vouches for it.
	builder       = repository + "/blob/main/Makefile#release"
	predicateType = "https://slsa.dev/provenance/v1"
)

// writeProvenance writes what was built and from what. It has no time, so that a second build makes the same bytes.
func (r *Release) writeProvenance(ctx context.Context) error {
	subjects, err := r.subjects()
	if err != nil {
		return err
	}
	materials, err := r.materials(ctx)
	if err != nil {
		return err
	}
	parameters, err := structpb.NewStruct(map[string]any{
		"version": r.Version, "tag": r.Tag, "registry": r.Registry, "platforms": strings.Join(platforms, ","),
	})
	if err != nil {
		return err
	}
	predicate, err := toStruct(&provenancev1.Provenance{
		BuildDefinition: &provenancev1.BuildDefinition{
			BuildType: buildType, ExternalParameters: parameters, ResolvedDependencies: materials,
		},
		RunDetails: &provenancev1.RunDetails{Builder: &provenancev1.Builder{Id: builder}},
	})
	if err != nil {
		return err
	}
	statement := &statementv1.Statement{
		Type: statementv1.StatementTypeUri, Subject: subjects, PredicateType: predicateType, Predicate: predicate,
	}
	if err := statement.Validate(); err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	whole, err := toStruct(statement)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(whole.AsMap(), "", "  ")
	if err != nil {
		return err
	}
	return r.write(provenanceFile, append(text, '\n'))
}

// subjects are the images, and the files that are no parts of the layout.
func (r *Release) subjects() ([]*statementv1.ResourceDescriptor, error) {
	artefacts, err := r.Folder.Artefacts()
	if err != nil {
		return nil, err
	}
	var subjects []*statementv1.ResourceDescriptor
	for _, artefact := range artefacts {
		subjects = append(subjects, descriptor(artefact.Name(), "sha256", artefact.Digest.Hex))
	}
	files, err := r.Folder.Files()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if strings.HasPrefix(file, folder.Layout+"/") {
			continue
		}
		sum, err := r.Folder.SumOf(file)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, descriptor(file, "sha256", sum))
	}
	return subjects, nil
}

// materials are the commit, the checksums of all modules, the compiler and the base image.
func (r *Release) materials(ctx context.Context) ([]*statementv1.ResourceDescriptor, error) {
	var materials []*statementv1.ResourceDescriptor
	if commit, err := git(ctx, r.Source, "rev-parse", "HEAD"); err == nil {
		material := descriptor("source", "gitCommit", commit)
		material.Uri = "git+" + repository
		materials = append(materials, material)
	}
	for _, sums := range []string{"go.sum", "tools/go.sum", "hack/release/go.sum"} {
		text, err := r.read(sums)
		if err != nil {
			return nil, err
		}
		materials = append(materials, descriptor(sums, "sha256", sha256Of(text)))
	}
	materials = append(materials, &statementv1.ResourceDescriptor{Name: "go", Uri: "https://go.dev/dl/" + runtime.Version()})
	bases, err := r.baseImages()
	if err != nil {
		return nil, err
	}
	return append(materials, bases...), nil
}

// baseImages returns the images that the programs were put on. ko notes them.
func (r *Release) baseImages() ([]*statementv1.ResourceDescriptor, error) {
	var found []string
	for _, image := range r.images {
		manifest, err := image.index.IndexManifest()
		if err != nil {
			return nil, err
		}
		digest := manifest.Annotations[specsv1.AnnotationBaseImageDigest]
		if digest != "" && !slices.Contains(found, digest) {
			found = append(found, digest)
		}
	}
	slices.Sort(found)
	var materials []*statementv1.ResourceDescriptor
	for _, digest := range found {
		materials = append(materials, descriptor("base image", "sha256", strings.TrimPrefix(digest, "sha256:")))
	}
	return materials, nil
}

func descriptor(name, algorithm, digest string) *statementv1.ResourceDescriptor {
	return &statementv1.ResourceDescriptor{Name: name, Digest: map[string]string{algorithm: digest}}
}

func sha256Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// toStruct returns a message as JSON has it. The text of protojson differs from build to build.
func toStruct(message proto.Message) (*structpb.Struct, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	result := &structpb.Struct{}
	return result, protojson.Unmarshal(text, result)
}
