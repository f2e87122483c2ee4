package fetch

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
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

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const templateText = "apiVersion: v1\nkind: Pod\n"

// outcome is the result of a fetch: there, refused or retried, with the error's text.
func outcome(text []byte, err error) (what, said string) {
	var refusal *finding.Finding
	switch {
	case err == nil && string(text) == templateText:
		return "there", ""
	case err == nil:
		return "something else", string(text)
	case errors.As(err, &refusal):
		return "refused", refusal.Message
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
			_, _ = w.Write([]byte(templateText))
		case "/templates/large":
			_, _ = w.Write(make([]byte, maxSize+1))
		case "/templates/compressed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("not what it says"))
		case "/templates/partial":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(templateText))
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
		"forbidden":  {"refused", "cannot be read (403 Forbidden)"},
		"busy":       {"retried", "429 Too Many Requests"},
		"broken":     {"retried", "502 Bad Gateway"},
		"large":      {"refused", "is larger than 256 KiB"},
		"compressed": {"retried", "gzip"},
		"partial":    {"retried", "unexpected EOF"},
		"away":       {"refused", `is redirected to "` + s.URL + `/secret.yaml", which is not at a URL that the operator allows for templates`},
		"up":         {"refused", "which is not at a URL that the operator allows for templates"},
		"abroad":     {"refused", `is redirected to "` + elsewhere.URL + `/templates/pi.yaml", which is not at a URL that the operator allows`},
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

func TestFetchRefusesAnInvalidCertificate(t *testing.T) {
	s, _ := server(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	if what, said := outcome(New(nil).Fetch(t.Context(), locate(t, s.URL, s.URL+"/pi.yaml"))); what != "refused" ||
		!strings.Contains(said, "certificate") {
		t.Errorf("it is %s: %s", what, said)
	}
}

func TestLinkLocalAddressesAreReachedByNumberOnly(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:443": true, "[fe80::1%eth0]:443": true, "[::ffff:169.254.170.2]:80": true, "[fd00:ec2::254]:443": true,
		"127.0.0.1:443": false, "10.0.0.1:443": false, "[fd00::1]:443": false,
	} {
		var refusal *finding.Finding
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

const (
	accessKey    = "AKID"
	secretKey    = "secret"
	sessionToken = "session"
)

// amazon has variables of a user of S3, and nothing of the machine that the test runs on.
func amazon(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	} {
		t.Setenv(name, variables[name])
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
}

func user() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_SESSION_TOKEN": sessionToken, "AWS_REGION": "eu-west-1",
	}
}

// bucket serves one object as S3 does: to a client that signs the request for it.
func bucket(t *testing.T, region, path string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Path != path:
			w.WriteHeader(http.StatusNotFound)
		case request.Header.Get("Authorization") != authorization(request, region), !signed(request):
			w.WriteHeader(http.StatusForbidden)
		default:
			_, _ = w.Write([]byte(templateText))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func signed(request *http.Request) bool {
	at, err := time.Parse("20060102T150405Z", request.Header.Get("X-Amz-Date"))
	return err == nil && time.Since(at).Abs() < 5*time.Minute && request.Header.Get("X-Amz-Security-Token") == sessionToken
}

// authorization is what a request should come with: Signature Version 4, worked out from what arrived.
func authorization(request *http.Request, region string) string {
	const names = "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
	at := request.Header.Get("X-Amz-Date")
	canonical := "GET\n" + strings.NewReplacer("=", "%3D", ",", "%2C", "+", "%2B", "@", "%40", ":", "%3A").Replace(request.URL.Path) + "\n\n" +
		"host:" + request.Host + "\n" + "x-amz-content-sha256:" + request.Header.Get("X-Amz-Content-Sha256") + "\n" +
		"x-amz-date:" + at + "\n" + "x-amz-security-token:" + request.Header.Get("X-Amz-Security-Token") + "\n\n" +
		names + "\n" + request.Header.Get("X-Amz-Content-Sha256")
	day := strings.SplitN(at, "T", 2)[0]
	scope := day + "/" + region + "/s3/aws4_request"
	digest := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + secretKey)
	for _, part := range []string{day, region, "s3", "aws4_request", "AWS4-HMAC-SHA256\n" + at + "\n" + scope + "\n" + hex.EncodeToString(digest[:])} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return "AWS4-HMAC-SHA256 Credential=" + accessKey + "/" + scope + ", SignedHeaders=" + names + ", Signature=" + hex.EncodeToString(key)
}

func TestFetchFromS3(t *testing.T) {
	amazon(t, user())
	const object = "/spark/a=1,b+c@d:e~f.yaml"
	for name, test := range map[string]struct {
		region, options, key, want, says string
	}{
		"with the region of the environment":     {"eu-west-1", "", object, "there", ""},
		"with the region of the list":            {"us-west-2", "&region=us-west-2", object, "there", ""},
		"with a region that is not the bucket's": {"us-west-2", "", object, "refused", "cannot be read (403 Forbidden)"},
		"without credentials":                    {"eu-west-1", "&anonymous=true", object, "refused", "cannot be read (403 Forbidden)"},
		"of what is not there":                   {"eu-west-1", "", "/spark/absent", "refused", "is not there (404 Not Found)"},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint := bucket(t, test.region, "/templates"+object)
			location := locate(t, "s3://templates/spark/?endpoint="+endpoint.URL+test.options, "s3a://templates"+test.key)
			if what, said := outcome(New(nil).Fetch(t.Context(), location)); what != test.want || !strings.Contains(said, test.says) {
				t.Errorf("it is %s: %q; want %s: %q", what, said, test.want, test.says)
			}
		})
	}
}

// A role's credentials are given by a server, here as to a pod whose service account has a role.
func TestFetchFromS3InARole(t *testing.T) {
	asked, broken := 0, true
	role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; broken {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{
			"AccessKeyId": accessKey, "SecretAccessKey": secretKey, "Token": sessionToken,
			"Expiration": time.Now().Add(time.Hour).Format(time.RFC3339),
		})
	}))
	defer role.Close()
	amazon(t, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": role.URL, "AWS_REGION": "eu-west-1"})
	endpoint := bucket(t, "eu-west-1", "/templates/pi.yaml")
	location := locate(t, "s3://templates?endpoint="+endpoint.URL, "s3://templates/pi.yaml")
	reader := New(nil)
	if what, said := outcome(reader.Fetch(t.Context(), location)); what != "retried" || !strings.Contains(said, "credentials") {
		t.Errorf("without a role it is %s: %s", what, said)
	}
	broken = false
	for range 2 {
		if what, said := outcome(reader.Fetch(t.Context(), location)); what != "there" {
			t.Errorf("in a role it is %s: %s", what, said)
		}
	}
	if asked != 2 {
		t.Errorf("credentials were asked for %d times, want twice", asked)
	}
}

func TestFetchFromABucketIsNotRedirected(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		t.Errorf("another server was asked, with %q", request.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	endpoint := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer endpoint.Close()
	for _, scheme := range []string{"s3", "gs"} {
		location := locate(t, scheme+"://templates/?anonymous=true&endpoint="+endpoint.URL, scheme+"://templates/pi.yaml")
		if what, said := outcome(New(nil).Fetch(t.Context(), location)); what != "refused" || !strings.Contains(said, "307") {
			t.Errorf("%s: it is %s: %s", scheme, what, said)
		}
	}
}

func TestAddressesOfObjects(t *testing.T) {
	for url, want := range map[string]string{
		"s3://templates/a/b.yaml":      "https://templates.s3.eu-west-1.amazonaws.com/a/b.yaml",
		"s3://templates/a+b":           "https://templates.s3.eu-west-1.amazonaws.com/a%2Bb",
		"s3://templates.example.com/a": "https://s3.eu-west-1.amazonaws.com/templates.example.com/a",
		"s3://elsewhere/a":             "http://minio:9000/elsewhere/a",
	} {
		location := locate(t, "s3://templates s3://templates.example.com s3://elsewhere?endpoint=http://minio:9000/", url)
		if got := objectURL(location, "eu-west-1"); got != want {
			t.Errorf("%s is at %s, want %s", url, got, want)
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
			_, _ = w.Write([]byte(templateText))
		}
	}))
	defer storage.Close()
	reader := New(nil)
	for _, test := range []struct{ options, key, want, says string }{
		{"", "a+b.yaml", "there", ""},
		{"", "absent", "refused", "is not there (404 Not Found)"},
		{"&anonymous=true", "a+b.yaml", "refused", "cannot be read (401 Unauthorized)"},
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

func TestFetchFromGoogleCloudStorageWithoutCredentialsIsRetried(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "absent.json"))
	location := locate(t, "gs://templates", "gs://templates/pi.yaml")
	if what, said := outcome(New(nil).Fetch(t.Context(), location)); what != "retried" || !strings.Contains(said, "credentials") {
		t.Errorf("it is %s: %s", what, said)
	}
}
