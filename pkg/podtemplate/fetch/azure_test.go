package fetch

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// workloadIdentity gives the process the workload identity of a service account, whose tokens a local server gives.
func workloadIdentity(t *testing.T) (authority *httptest.Server, asked *int) {
	t.Helper()
	asked = new(int)
	authority = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		tenant := "https://" + request.Host + "/tenant-1"
		switch {
		case strings.HasSuffix(request.URL.Path, "/.well-known/openid-configuration"):
			_ = json.NewEncoder(w).Encode(map[string]string{
				"issuer": tenant + "/v2.0", "token_endpoint": tenant + "/token", "authorization_endpoint": tenant + "/authorize",
			})
		case request.PostFormValue("client_assertion") != "token-of-the-service-account" || request.PostFormValue("client_id") != "client-1" ||
			!strings.Contains(request.PostFormValue("scope"), azureScope):
			w.WriteHeader(http.StatusBadRequest)
		default:
			*asked++
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "token-of-the-operator", "token_type": "Bearer", "expires_in": 3600})
		}
	}))
	t.Cleanup(authority.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("token-of-the-service-account"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AZURE_CLIENT_ID": "client-1", "AZURE_TENANT_ID": "tenant-1", "AZURE_FEDERATED_TOKEN_FILE": file, "AZURE_AUTHORITY_HOST": authority.URL,
		"AZURE_CLIENT_SECRET": "", "AZURE_CLIENT_CERTIFICATE_PATH": "", "AZURE_USERNAME": "", "AZURE_TOKEN_CREDENTIALS": "WorkloadIdentityCredential",
	} {
		t.Setenv(name, value)
	}
	return authority, asked
}

func TestFetchFromAzure(t *testing.T) {
	authority, asked := workloadIdentity(t)
	storage := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Path != "/templates/spark/a+b.yaml":
			w.WriteHeader(http.StatusNotFound)
		case request.Header.Get("Authorization") != "Bearer token-of-the-operator" || request.Header.Get("X-Ms-Version") == "":
			w.WriteHeader(http.StatusForbidden)
		default:
			_, _ = w.Write([]byte(templateText))
		}
	}))
	defer storage.Close()
	reader := &Reader{transport: storage.Client().Transport, azure: azure{client: authority.Client()}}
	host := strings.TrimPrefix(storage.URL, "https://")
	for _, test := range []struct{ list, url, want, says string }{
		{"azblob://templates/spark?endpoint=" + url.QueryEscape(storage.URL), "azblob://templates/spark/a+b.yaml", "there", ""},
		{"azblob://templates/spark?endpoint=" + url.QueryEscape(storage.URL), "azblob://templates/spark/absent", "refused", "is not there (404 Not Found)"},
		{"azblob://templates/spark?anonymous=true&endpoint=" + url.QueryEscape(storage.URL), "azblob://templates/spark/a+b.yaml", "refused", "cannot be read (403 Forbidden)"},
		{"abfss://templates@" + host, "abfs://templates@" + host + "/spark/a+b.yaml", "there", ""},
	} {
		if what, said := outcome(reader.Fetch(t.Context(), locate(t, test.list, test.url))); what != test.want || !strings.Contains(said, test.says) {
			t.Errorf("%s: it is %s: %q; want %s: %q", test.url, what, said, test.want, test.says)
		}
	}
	if *asked != 1 {
		t.Errorf("a token was asked for %d times, want once", *asked)
	}
}

func TestFetchFromAzureWithoutCredentialsIsRetried(t *testing.T) {
	workloadIdentity(t)
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", filepath.Join(t.TempDir(), "absent"))
	location := locate(t, "azblob://templates?storage_account=firesteel", "azblob://templates/pi.yaml")
	if what, said := outcome(New(nil).Fetch(t.Context(), location)); what != "retried" || !strings.Contains(said, "credentials for Azure Storage") {
		t.Errorf("it is %s: %s", what, said)
	}
}

func TestAddressesOfBlobs(t *testing.T) {
	for url, want := range map[string]string{
		"azblob://templates/a/b.yaml":                             "https://firesteel.blob.core.windows.net/templates/a/b.yaml",
		"azblob://elsewhere/a":                                    "http://azurite:10000/devstoreaccount1/elsewhere/a",
		"abfss://templates@firesteel.dfs.core.windows.net/a.yaml": "https://firesteel.dfs.core.windows.net/templates/a.yaml",
	} {
		location := locate(t, "azblob://templates?storage_account=firesteel azblob://elsewhere?endpoint=http://azurite:10000/devstoreaccount1/ "+
			"abfss://templates@firesteel.dfs.core.windows.net", url)
		if got := blobURL(location); got != want {
			t.Errorf("%s is at %s, want %s", url, got, want)
		}
	}
}
