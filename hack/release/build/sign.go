package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

const (
	// Cosign is the program that signs, built from the Go module proxy. It is no tool of tools/go.mod, which would have a hundred more
	// modules: the clients of all clouds that can keep a key.
	Cosign = "github.com/sigstore/cosign/v3/cmd/cosign@v3.1.1"
)

// signer signs with a key, or without one in the name of an identity.
type signer struct {
	release *Release
	// arguments are those of both commands that sign.
	arguments []string
}

// newSigner returns nil if the release is not signed.
func (r *Release) newSigner() *signer {
	switch {
	case r.Key != "":
		// Without the log and the other services of Sigstore: nothing leaves the machine.
		return &signer{r, []string{"--yes", "--key", r.Key, "--use-signing-config=false", "--tlog-upload=false"}}
	case r.Keyless:
		return &signer{r, []string{"--yes"}}
	}
	return nil
}

func (s *signer) cosign(ctx context.Context, command string, arguments ...string) (string, error) {
	return s.release.command(ctx, "go", append([]string{"run", Cosign, command}, arguments...)...)
}

// signImages adds the signatures of all images and of the chart to the layout. cosign signs in a registry only, so there is one for
// this time.
func (s *signer) signImages(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))),
		ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	artefacts, err := s.release.Folder.Artefacts()
	if err != nil {
		return err
	}
	for _, artefact := range artefacts {
		if err := s.signImage(ctx, listener.Addr().String(), artefact); err != nil {
			return fmt.Errorf("sign %s: %w", artefact.Name(), err)
		}
	}
	return nil
}

func (s *signer) signImage(ctx context.Context, host string, artefact folder.Artefact) error {
	reference, err := name.NewDigest(host + "/" + artefact.Repository + "@" + artefact.Digest.String())
	if err != nil {
		return err
	}
	if err := artefact.Push(ctx, reference); err != nil {
		return err
	}
	if _, err := s.cosign(ctx, "sign", slices.Concat(s.arguments, []string{"--allow-http-registry", reference.String()})...); err != nil {
		return err
	}
	signatures, err := remote.Referrers(reference, remote.WithContext(ctx))
	if err != nil {
		return err
	}
	manifest, err := signatures.IndexManifest()
	if err != nil {
		return err
	}
	if len(manifest.Manifests) == 0 {
		return errors.New("cosign wrote no signature")
	}
	for _, descriptor := range manifest.Manifests {
		signature, err := remote.Image(reference.Context().Digest(descriptor.Digest.String()), remote.WithContext(ctx))
		if err != nil {
			return err
		}
		if err := s.release.Folder.Add(artefact.Repository+"@"+descriptor.Digest.String(), signature); err != nil {
			return err
		}
	}
	return nil
}

// writePublicKey writes the key that verifies the signatures. Without a key, the signatures have certificates.
func (s *signer) writePublicKey(ctx context.Context) error {
	if s.release.Key == "" {
		return nil
	}
	text, err := s.cosign(ctx, "public-key", "--key", s.release.Key)
	if err != nil {
		return err
	}
	return s.release.write(folder.PublicKey, []byte(text))
}

// signChecksums signs the checksums, and so all files.
func (s *signer) signChecksums(ctx context.Context) error {
	dir := s.release.Folder
	arguments := slices.Concat(s.arguments, []string{"--bundle", dir.Path(folder.Signature), dir.Path(folder.Checksums)})
	if _, err := s.cosign(ctx, "sign-blob", arguments...); err != nil {
		return err
	}
	return os.Chmod(dir.Path(folder.Signature), 0o644)
}
