package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const (
	gsEndpoint = "https://storage.googleapis.com"
	gsScope    = "https://www.googleapis.com/auth/devstorage.read_only"
)

// gs reads objects of Google Cloud Storage.
type gs struct {
	mutex  sync.Mutex
	tokens oauth2.TokenSource
}

// source is that of the application default credentials. It keeps a token until that expires.
func (g *gs) source() (oauth2.TokenSource, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.tokens == nil {
		// For all requests to come, so that it is not of the context of one.
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Timeout: dialTimeout})
		credentials, err := google.FindDefaultCredentials(ctx, gsScope)
		if err != nil {
			return nil, err
		}
		g.tokens = credentials.TokenSource
	}
	return g.tokens, nil
}

func (g *gs) request(ctx context.Context, location podtemplate.Location) (*http.Request, error) {
	endpoint := strings.TrimSuffix(cmp.Or(location.Options.Get("endpoint"), gsEndpoint), "/")
	request, err := get(ctx, endpoint+"/"+location.Host+location.Path)
	if err != nil || location.Options.Get("anonymous") == "true" {
		return request, err
	}
	source, err := g.source()
	if err != nil {
		return nil, fmt.Errorf("find credentials for Google Cloud Storage: %w", err)
	}
	token, err := source.Token()
	if err != nil {
		return nil, fmt.Errorf("get credentials for Google Cloud Storage: %w", err)
	}
	token.SetAuthHeader(request)
	return request, nil
}
