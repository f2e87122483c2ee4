package remote

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const template = "apiVersion: v1\nkind: Pod\n"

// outcome is what came of a fetch: there, refused or retried, with the error's text.
func outcome(text []byte, err error) (what, said string) {
	var refusal *podtemplate.Refusal
	switch {
	case err == nil && string(text) == template:
		return "there", ""
	case err == nil:
		return "something else", string(text)
	case errors.As(err, &refusal):
		return "refused", refusal.Problem
	default:
		return "retried", err.Error()
	}
}

// server serves templates by TLS, and a reader trusts it.
func server(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *Reader) {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	return s, &Reader{transport: s.Client().Transport}
}

func locate(t *testing.T, list, url string) podtemplate.Location {
	t.Helper()
	allowed, err := podtemplate.ParseAllowed(list)
	if err != nil {
		t.Fatal(err)
	}
	location, refusal := allowed.Locate(url)
	if refusal != nil {
		t.Fatal(refusal)
	}
	return location
}

func TestFetchByHTTPS(t *testing.T) {
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a server was asked that the operator does not allow")
	}))
	t.Cleanup(elsewhere.Close)
	s, reader := server(t, func(w http.ResponseWriter, request *http.Request) {
		switch request.URL.Path {
		case "/templates/pi.yaml":
			_, _ = w.Write([]byte(template))
		case "/templates/large":
			_, _ = w.Write(make([]byte, maxSize+1))
		case "/templates/compressed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("not what it says"))
		case "/templates/partial":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(template))
		case "/templates/moved":
			http.Redirect(w, request, "/templates/pi.yaml", http.StatusFound)
		case "/templates/away":
			http.Redirect(w, request, "/secret.yaml", http.StatusFound)
		case "/templates/up":
			w.Header().Set("Location", "/templates/../secret.yaml")
			w.WriteHeader(http.StatusFound)
		case "/templates/abroad":
			http.Redirect(w, request, elsewhere.URL+"/templates/pi.yaml", http.StatusFound)
		case "/templates/plain":
			http.Redirect(w, request, strings.Replace(elsewhere.URL, "https", "http", 1), http.StatusFound)
		case "/templates/round":
			http.Redirect(w, request, request.URL.Path, http.StatusFound)
		case "/templates/forbidden":
			w.WriteHeader(http.StatusForbidden)
		case "/templates/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/templates/broken":
			w.WriteHeader(http.StatusBadGateway)
		case "/secret.yaml":
			t.Error("a file was asked for that the operator does not allow")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	for path, test := range map[string]struct{ want, says string }{
		"pi.yaml":    {"there", ""},
		"moved":      {"there", ""},
		"absent":     {"refused", "is not there (404 Not Found)"},
		"forbidden":  {"refused", "is not to be had (403 Forbidden)"},
		"busy":       {"retried", "429 Too Many Requests"},
		"broken":     {"retried", "502 Bad Gateway"},
		"large":      {"refused", "is larger than 1 MiB"},
		"compressed": {"retried", "gzip"},
		"partial":    {"retried", "unexpected EOF"},
		"away":       {"refused", `is redirected to "` + s.URL + `/secret.yaml", which is not where the operator allows templates to be`},
		"up":         {"refused", "which is not where the operator allows templates to be"},
		"abroad":     {"refused", `is redirected to "` + elsewhere.URL + `/templates/pi.yaml", which is not where the operator allows`},
		"plain":      {"refused", "which is not read"},
		"round":      {"refused", "is redirected too often"},
	} {
		t.Run(path, func(t *testing.T) {
			location := locate(t, s.URL+"/templates/", s.URL+"/templates/"+path)
			if what, said := outcome(reader.Fetch(t.Context(), location)); what != test.want || !strings.Contains(said, test.says) {
				t.Errorf("it is %s: %q; want %s: %q", what, said, test.want, test.says)
			}
		})
	}
}

func TestFetchFromAServerThatDoesNotAnswer(t *testing.T) {
	hangs := make(chan struct{})
	s, reader := server(t, func(http.ResponseWriter, *http.Request) { <-hangs })
	defer close(hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if what, said := outcome(reader.Fetch(ctx, locate(t, s.URL, s.URL+"/pi.yaml"))); what != "retried" {
		t.Errorf("a server that hangs is %s: %s", what, said)
	}
	s.CloseClientConnections()
	s.Listener.Close()
	if what, said := outcome(reader.Fetch(t.Context(), locate(t, s.URL, s.URL+"/pi.yaml"))); what != "retried" {
		t.Errorf("a server that is gone is %s: %s", what, said)
	}
}

func TestFetchTrustsNobodyWhoCannotProveItsName(t *testing.T) {
	s, _ := server(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	if what, said := outcome(New().Fetch(t.Context(), locate(t, s.URL, s.URL+"/pi.yaml"))); what != "refused" ||
		!strings.Contains(said, "certificate") {
		t.Errorf("it is %s: %s", what, said)
	}
}

func TestLinkLocalAddressesAreReachedByNumberOnly(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:443": true, "[fe80::1%eth0]:443": true, "[::ffff:169.254.170.2]:80": true, "[fd00:ec2::254]:443": true,
		"127.0.0.1:443": false, "10.0.0.1:443": false, "[fd00::1]:443": false,
	} {
		var refusal *podtemplate.Refusal
		if err := refuseLinkLocal("tcp", address, nil); errors.As(err, &refusal) != refused {
			t.Errorf("%s is refused: %v, want %t", address, err, refused)
		}
	}
	s, _ := server(t, func(http.ResponseWriter, *http.Request) {})
	connection, err := dial(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	connection.Close()
}

// amazon has the credentials of a user of S3, and nothing of the machine that the test runs on.
func amazon(t *testing.T) aws.Credentials {
	t.Helper()
	credentials := aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret", SessionToken: "session"}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY": credentials.SecretAccessKey,
		"AWS_SESSION_TOKEN": credentials.SessionToken, "AWS_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_ENDPOINT_URL": "", "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	return credentials
}

// bucket serves one object as S3 does: to whoever signs the request for it.
func bucket(t *testing.T, credentials aws.Credentials, region, path string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Path != path:
			w.WriteHeader(http.StatusNotFound)
		case signature(t, credentials, region, request) != request.Header.Get("Authorization"):
			w.WriteHeader(http.StatusForbidden)
		default:
			_, _ = w.Write([]byte(template))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// signature is what a request should be signed with, worked out from what arrived.
func signature(t *testing.T, credentials aws.Credentials, region string, arrived *http.Request) string {
	t.Helper()
	at, err := time.Parse("20060102T150405Z", arrived.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 5*time.Minute || arrived.Header.Get("X-Amz-Security-Token") != credentials.SessionToken {
		return "none"
	}
	again, err := http.NewRequest(http.MethodGet, "http://"+arrived.Host, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.URL.Path, again.URL.RawPath = arrived.URL.Path, httpbinding.EscapePath(arrived.URL.Path, false)
	payload := arrived.Header.Get("X-Amz-Content-Sha256")
	again.Header.Set("X-Amz-Content-Sha256", payload)
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials, again, payload, "s3", region, at,
		func(options *v4.SignerOptions) { options.DisableURIPathEscaping = true }); err != nil {
		t.Fatal(err)
	}
	return again.Header.Get("Authorization")
}

func TestFetchFromS3(t *testing.T) {
	credentials := amazon(t)
	const object = "/spark/a=1,b+c@d:e~f.yaml"
	for name, test := range map[string]struct {
		region, options, key, want, says string
	}{
		"with the region of the environment":     {"eu-west-1", "", object, "there", ""},
		"with the region of the list":            {"us-west-2", "&region=us-west-2", object, "there", ""},
		"with a region that is not the bucket's": {"us-west-2", "", object, "refused", "is not to be had (403 Forbidden)"},
		"without credentials":                    {"eu-west-1", "&anonymous=true", object, "refused", "is not to be had (403 Forbidden)"},
		"of what is not there":                   {"eu-west-1", "", "/spark/absent", "refused", "is not there (404 Not Found)"},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint := bucket(t, credentials, test.region, "/templates"+object)
			location := locate(t, "s3://templates/spark/?endpoint="+endpoint.URL+test.options, "s3a://templates"+test.key)
			if what, said := outcome(New().Fetch(t.Context(), location)); what != test.want || !strings.Contains(said, test.says) {
				t.Errorf("it is %s: %q; want %s: %q", what, said, test.want, test.says)
			}
		})
	}
}

func TestFetchFromABucketIsNotRedirected(t *testing.T) {
	amazon(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		t.Errorf("somebody else was asked, with %q", request.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	endpoint := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer endpoint.Close()
	for _, scheme := range []string{"s3", "gs"} {
		location := locate(t, scheme+"://templates/?anonymous=true&endpoint="+endpoint.URL, scheme+"://templates/pi.yaml")
		if what, said := outcome(New().Fetch(t.Context(), location)); what != "refused" || !strings.Contains(said, "307") {
			t.Errorf("%s: it is %s: %s", scheme, what, said)
		}
	}
}

func TestAddressesOfObjects(t *testing.T) {
	for url, test := range map[string]struct{ endpoint, want string }{
		"s3://templates/a/b.yaml":      {"", "https://templates.s3.eu-west-1.amazonaws.com/a/b.yaml"},
		"s3://templates/a+b":           {"", "https://templates.s3.eu-west-1.amazonaws.com/a%2Bb"},
		"s3://templates.example.com/a": {"", "https://s3.eu-west-1.amazonaws.com/templates.example.com/a"},
		"s3://templates/a":             {"http://minio:9000/", "http://minio:9000/templates/a"},
	} {
		location := locate(t, "s3://templates s3://templates.example.com", url)
		if got := objectURL(location, "eu-west-1", test.endpoint); got != test.want {
			t.Errorf("%s is at %s, want %s", url, got, test.want)
		}
	}
}

// serviceAccount has a service account of Google's, whose tokens a local server gives.
func serviceAccount(t *testing.T, token string) (asked *int) {
	t.Helper()
	asked = new(int)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*asked++
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
	}))
	t.Cleanup(tokens.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "firesteel@example.com", "token_uri": tokens.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	return asked
}

func TestFetchFromGoogleCloudStorage(t *testing.T) {
	asked := serviceAccount(t, "token-of-the-operator")
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Path != "/templates/spark/a+b.yaml":
			w.WriteHeader(http.StatusNotFound)
		case request.Header.Get("Authorization") != "Bearer token-of-the-operator":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(template))
		}
	}))
	defer storage.Close()
	reader := New()
	for _, test := range []struct{ options, key, want, says string }{
		{"", "a+b.yaml", "there", ""},
		{"", "absent", "refused", "is not there (404 Not Found)"},
		{"&anonymous=true", "a+b.yaml", "refused", "is not to be had (401 Unauthorized)"},
	} {
		location := locate(t, "gs://templates/spark?endpoint="+storage.URL+test.options, "gs://templates/spark/"+test.key)
		if what, said := outcome(reader.Fetch(t.Context(), location)); what != test.want || !strings.Contains(said, test.says) {
			t.Errorf("%s: it is %s: %q; want %s: %q", test.key, what, said, test.want, test.says)
		}
	}
	if *asked != 1 {
		t.Errorf("a token was asked for %d times, want once", *asked)
	}
}

func TestFetchWithoutCredentialsIsTriedAgain(t *testing.T) {
	amazon(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "absent.json"))
	for _, scheme := range []string{"s3", "gs"} {
		location := locate(t, scheme+"://templates", scheme+"://templates/pi.yaml")
		if what, said := outcome(New().Fetch(t.Context(), location)); what != "retried" || !strings.Contains(said, "credentials") {
			t.Errorf("%s: it is %s: %s", scheme, what, said)
		}
	}
}
