// Package oidc authenticates the senders of events by the tokens that Knative's Broker sends. These are JSON Web Tokens of service
// accounts, which the API server issues for an audience.
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
	// The API server publishes its issuer at discoveryPath, and the keys of its tokens at keysPath.
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/openid/v1/jwks"
	// requestTimeout bounds the time for both requests, and maxResponseBytes the size of each response.
	requestTimeout   = 10 * time.Second
	maxResponseBytes = 1 << 20
	// refreshAfter is the age from which keys are read again if a token is refused, since the API server may have a new key.
	refreshAfter = 10 * time.Second
	// retryAfter is how long a failed read is not repeated.
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

// keySet is the result of the last read from the API server.
type keySet struct {
	verifier *oidc.IDTokenVerifier
	readAt   time.Time
	// err is the error of the last read. The verifier of an earlier read stays usable.
	err error
}

// NewVerifier creates a verifier for tokens that a cluster's API server issued for an audience. It reads issuer and keys from the API
// server when the first token arrives. Every service account has the rights for that. It sends requests to no other host, whatever
// the issuer's address is.
func NewVerifier(cluster *rest.Config, audience string) (*Verifier, error) {
	if audience == "" {
		return nil, errors.New("the audience of the tokens is missing")
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

// Authenticate checks the issuer, signature, audience and time of a request's token. It is a function.Authenticate.
func (v *Verifier) Authenticate(request *http.Request) error {
	token, ok := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return fmt.Errorf("%w: the request has no token for the audience %q: enable authentication-oidc in Knative's config-features, "+
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

// keySet returns the keys. It reads them if there are none, or if they are older than refreshAfter and a token was refused.
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

// refresh reads issuer and keys. If that fails, the present ones stay.
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
		return fmt.Errorf("request %s from the API server: %w", path, err)
	}
	response, err := v.client.Do(request)
	if err != nil {
		return fmt.Errorf("request %s from the API server: %w", path, err)
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
		return fmt.Errorf("decode %s of the API server: %w", path, err)
	}
	return nil
}
