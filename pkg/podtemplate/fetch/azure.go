package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const (
	azureScope = "https://storage.azure.com/.default"
	// azureVersion is that of the storage service's REST API, which a request with a token names.
	azureVersion = "2021-12-02"
)

// azure reads blobs of Azure Storage.
type azure struct {
	// client sends the requests for tokens; nil means a client of azidentity's.
	client policy.Transporter

	mutex      sync.Mutex
	credential azcore.TokenCredential
}

// source is the default credential: of the environment, the workload identity of the service account, or the node's managed identity. It keeps
// a token until that expires.
func (a *azure) source() (azcore.TokenCredential, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.credential == nil {
		credential, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: policy.ClientOptions{Transport: a.client, Retry: policy.RetryOptions{MaxRetries: -1}}, // the Keeper retries
			// The authority is the environment's own word, so it needs no approval by Microsoft's public cloud.
			DisableInstanceDiscovery: true,
		})
		if err != nil {
			return nil, err
		}
		a.credential = credential
	}
	return a.credential, nil
}

func (a *azure) request(ctx context.Context, location podtemplate.Location) (*http.Request, error) {
	request, err := get(ctx, blobURL(location))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Ms-Version", azureVersion)
	if location.Options.Get("anonymous") == "true" {
		return request, nil
	}
	source, err := a.source()
	if err != nil {
		return nil, fmt.Errorf("find credentials for Azure Storage: %w", err)
	}
	token, err := source.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{azureScope}})
	if err != nil {
		return nil, fmt.Errorf("get credentials for Azure Storage: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	return request, nil
}

// blobURL names a blob by the host of its account. The hosts of both schemes take the same path.
func blobURL(location podtemplate.Location) string {
	if container, host, ok := strings.Cut(location.Host, "@"); ok {
		return "https://" + host + "/" + container + location.Path
	}
	account := fmt.Sprintf("https://%s.blob.core.windows.net", location.Options.Get("storage_account"))
	endpoint := strings.TrimSuffix(cmp.Or(location.Options.Get("endpoint"), account), "/")
	return endpoint + "/" + location.Host + location.Path
}
