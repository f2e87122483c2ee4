// Package oidc authenticates the senders of events by the tokens that Knative's Broker sends: JSON Web Tokens of service accounts,
// which the API server issues for an audience.
package oidc

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/function"
)

const (
	// discoveryPath and keysPath are where an API server publishes its issuer and the keys of its tokens.
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/openid/v1/jwks"
	// requestTimeout bounds the reading of both, and maxResponseBytes the size of each.
	requestTimeout   = 10 * time.Second
	maxResponseBytes = 1 << 20
	// refreshAfter is how long keys count as complete: if a token fails later than that, they are read again, since the API server
	// may have another key.
	refreshAfter = 10 * time.Second
	// retryAfter is how long a failed reading stands.
	retryAfter = time.Second
)

// Verifier verifies tokens for an audience.
type Verifier struct {
	audience string
	server   *url.URL
	client   *http.Client
	reads    singleflight.Group

	mutex sync.Mutex
	keys  keySet
}

// keySet is what was last read of the API server.
type keySet struct {
	verifier *oidc.IDTokenVerifier
	readAt   time.Time
	// err is why the last reading failed; nil if it did not.
	err error
}

// NewVerifier makes a verifier of tokens that a cluster's API server issued for an audience. It asks the API server for its issuer
// and its keys when the first token comes, with the rights that every service account has. It sends nothing to any other host,
// whatever the issuer's address is.
func NewVerifier(cluster *rest.Config, audience string) (*Verifier, error) {
	if audience == "" {
		return nil, errors.New("a verifier of tokens needs an audience")
	}
	client, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	return &Verifier{audience: audience, server: server, client: client}, nil
}

// Authenticate checks the token of a request: issuer, signature, audience and time. It is a function.Authenticate.
func (v *Verifier) Authenticate(request *http.Request) error {
	token, ok := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return fmt.Errorf("%w: the request bears no token for the audience %q: enable authentication-oidc in Knative's config-features, "+
			"and set spec.subscriber.audience of the Trigger", function.ErrUnauthenticated, v.audience)
	}
	ctx, cancel := context.WithTimeout(request.Context(), requestTimeout)
	defer cancel()
	current, err := v.keySet(ctx, retryAfter)
	if err != nil {
		return err
	}
	_, verifyErr := current.verifier.Verify(ctx, token)
	if verifyErr == nil {
		return nil
	}
	refreshed, err := v.keySet(ctx, refreshAfter)
	if err != nil {
		return err
	}
	if refreshed.readAt.After(current.readAt) {
		_, verifyErr = refreshed.verifier.Verify(ctx, token)
	}
	if verifyErr != nil {
		return fmt.Errorf("%w: the token is not valid for the audience %q: %w", function.ErrUnauthenticated, v.audience, verifyErr)
	}
	return nil
}

// keySet is what is known, read again if there is nothing, or if a token was refused and the keys are older than that.
func (v *Verifier) keySet(ctx context.Context, age time.Duration) (keySet, error) {
	v.mutex.Lock()
	last := v.keys
	v.mutex.Unlock()
	fresh := time.Since(last.readAt) < age
	switch {
	case last.verifier != nil && (fresh || age == retryAfter):
		return last, nil
	case last.err != nil && fresh:
		return keySet{}, last.err
	}
	read := v.reads.DoChan("", func() (any, error) { return v.refresh(), nil })
	select {
	case result := <-read:
		last = result.Val.(keySet)
	case <-ctx.Done():
		return keySet{}, ctx.Err()
	}
	if last.verifier == nil {
		return keySet{}, last.err
	}
	return last, nil
}

// refresh reads issuer and keys. If that fails, those that are known stay.
func (v *Verifier) refresh() keySet {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	verifier, err := v.discover(ctx)
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.keys.readAt, v.keys.err = time.Now(), err
	if err == nil {
		v.keys.verifier = verifier
	}
	return v.keys
}

func (v *Verifier) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	var discovery struct {
		Issuer     string   `json:"issuer"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	var keys jose.JSONWebKeySet
	if err := v.get(ctx, discoveryPath, &discovery); err != nil {
		return nil, err
	}
	if err := v.get(ctx, keysPath, &keys); err != nil {
		return nil, err
	}
	set := &oidc.StaticKeySet{}
	for _, key := range keys.Keys {
		if key.Valid() && key.IsPublic() {
			set.PublicKeys = append(set.PublicKeys, crypto.PublicKey(key.Key))
		}
	}
	return oidc.NewVerifier(discovery.Issuer, set, &oidc.Config{ClientID: v.audience, SupportedSigningAlgs: discovery.Algorithms}), nil
}

func (v *Verifier) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.server.JoinPath(path).String(), nil)
	if err != nil {
		return fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	response, err := v.client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes))
	switch {
	case err != nil:
		return fmt.Errorf("read %s of the API server: %w", path, err)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the API server answers %s with %s: bind the ClusterRole system:service-account-issuer-discovery to the "+
			"handler's service account", path, response.Status)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("understand %s of the API server: %w", path, err)
	}
	return nil
}
