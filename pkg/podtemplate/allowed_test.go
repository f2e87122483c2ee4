package podtemplate_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const list = `
https://example.com/templates/
https://example.com/one.yaml  https://Other.example.com:443
https://example.com:8443/a
s3://bucket/spark/?region=eu-west-1&endpoint=http://minio:9000
s3a://all
gs://bucket/spark?anonymous=true
azblob://templates/spark/?storage_account=firesteel
abfss://templates@Firesteel.dfs.core.windows.net/spark/
configmap://templates configmap://more-templates/pi.yaml
`

func allowed(t *testing.T, text string) podtemplate.Allowed {
	t.Helper()
	parsed, err := podtemplate.ParseAllowed(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestLocateAcceptsAllowedURLs(t *testing.T) {
	for text, want := range map[string]podtemplate.Location{
		"https://example.com/templates/pi.yaml":     {Scheme: "https", Host: "example.com", Path: "/templates/pi.yaml"},
		"https://example.com/templates/a/b~c+d.yml": {Scheme: "https", Host: "example.com", Path: "/templates/a/b~c+d.yml"},
		"HTTPS://EXAMPLE.com:443/templates/pi.yaml": {Scheme: "https", Host: "example.com", Path: "/templates/pi.yaml"},
		"https://example.com/one.yaml":              {Scheme: "https", Host: "example.com", Path: "/one.yaml"},
		"https://other.example.com/any/thing":       {Scheme: "https", Host: "other.example.com", Path: "/any/thing"},
		"https://example.com:8443/a":                {Scheme: "https", Host: "example.com:8443", Path: "/a"},
		"https://example.com:8443/a/b":              {Scheme: "https", Host: "example.com:8443", Path: "/a/b"},
		"s3a://bucket/spark/pi.yaml": {
			Scheme: "s3", Host: "bucket", Path: "/spark/pi.yaml",
			Options: url.Values{"region": {"eu-west-1"}, "endpoint": {"http://minio:9000"}},
		},
		"s3://all/pi.yaml": {Scheme: "s3", Host: "all", Path: "/pi.yaml"},
		"gs://bucket/spark/pi.yaml": {
			Scheme: "gs", Host: "bucket", Path: "/spark/pi.yaml", Options: url.Values{"anonymous": {"true"}},
		},
		"azblob://templates/spark/pi.yaml": {
			Scheme: "azblob", Host: "templates", Path: "/spark/pi.yaml", Options: url.Values{"storage_account": {"firesteel"}},
		},
		"abfss://templates@firesteel.dfs.core.windows.net/spark/pi.yaml": {
			Scheme: "abfss", Host: "templates@firesteel.dfs.core.windows.net", Path: "/spark/pi.yaml",
		},
		"abfs://templates@firesteel.dfs.core.windows.net/spark/pi.yaml": {
			Scheme: "abfss", Host: "templates@firesteel.dfs.core.windows.net", Path: "/spark/pi.yaml",
		},
		"configmap://templates/driver.yaml":  {Scheme: "configmap", Host: "templates", Path: "/driver.yaml"},
		"configmap://more-templates/pi.yaml": {Scheme: "configmap", Host: "more-templates", Path: "/pi.yaml"},
	} {
		got, refusal := allowed(t, list).Locate(text)
		if refusal != nil {
			t.Errorf("%s is refused: %v", text, refusal)
			continue
		}
		if len(got.Allowed) != 11 {
			t.Errorf("%s may be sent on to %d locations, want those of the list", text, len(got.Allowed))
		}
		got.Allowed = nil
		if len(got.Options) == 0 {
			got.Options = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestLocateRefusesOtherURLs(t *testing.T) {
	const (
		elsewhere = "is not at a URL that the operator allows for templates"
		scheme    = "is not read"
		nowhere   = "names no host or bucket"
		user      = "holds a user"
		query     = "has a query or a fragment"
		path      = "has a path that is not plain"
		noURL     = "is no URL"
		container = "names no container"
		key       = "names no key of a ConfigMap"
	)
	for text, want := range map[string]string{
		"https://example.org/templates/pi.yaml":                             elsewhere,
		"https://example.com/pi.yaml":                                       elsewhere,
		"https://example.com/templates":                                     elsewhere,
		"https://example.com/templatesque/pi.yaml":                          elsewhere,
		"https://example.com/one.yaml2":                                     elsewhere,
		"https://example.com:8443/ab":                                       elsewhere,
		"https://example.com:8444/a":                                        elsewhere,
		"https://example.com.evil.org/templates/pi.yaml":                    elsewhere,
		"https://example.com./templates/pi.yaml":                            elsewhere,
		"https://169.254.169.254/latest/meta-data/":                         elsewhere,
		"s3://bucket2/spark/pi.yaml":                                        elsewhere,
		"s3://bucket/pi.yaml":                                               elsewhere,
		"gs://all/pi.yaml":                                                  elsewhere,
		"azblob://others/spark/pi.yaml":                                     elsewhere,
		"azblob://templates/spark/pi.yaml?storage_account=evil":             query,
		"azblob://templates@evil/spark/pi.yaml":                             user,
		"abfss://templates@evil.dfs.core.windows.net/spark/pi.yaml":         elsewhere,
		"abfss://others@firesteel.dfs.core.windows.net/spark/pi.yaml":       elsewhere,
		"abfss://firesteel.dfs.core.windows.net/spark/pi.yaml":              container,
		"abfss://templates:p@firesteel.dfs.core.windows.net/spark/pi.yaml":  container,
		"abfss://a%40evil.org@firesteel.dfs.core.windows.net/spark/pi.yaml": container,
		"abfss://templates@/spark/pi.yaml":                                  nowhere,
		"configmap://config-defaults/image":                                 elsewhere,
		"configmap://more-templates/other.yaml":                             elsewhere,
		"configmap://templates/folder/driver.yaml":                          key,
		"http://example.com/templates/pi.yaml":                              scheme,
		"hdfs://example.com/templates/pi.yaml":                              scheme,
		"file:///etc/passwd":                                                scheme,
		"/etc/passwd":                                                       scheme,
		"https:///templates/pi.yaml":                                        nowhere,
		"https:example.com/templates/pi.yaml":                               nowhere,
		"s3:///spark/pi.yaml":                                               nowhere,
		"https://example.com@evil.org/templates/pi.yaml":                    user,
		"https://u:p@example.com/templates/pi.yaml":                         user,
		"https://@example.com/templates/pi.yaml":                            user,
		"https://example.com/templates/pi.yaml?to=https://evil.org":         query,
		"https://example.com/templates/pi.yaml?":                            query,
		"https://example.com/templates/pi.yaml#x":                           query,
		"s3://bucket/spark/pi.yaml?endpoint=http://evil.org":                query,
		"https://example.com/templates/../secret.yaml":                      path,
		"https://example.com/templates/./../secret.yaml":                    path,
		"https://example.com/templates/..":                                  path,
		"https://example.com/templates/%2e%2e/secret.yaml":                  path,
		"https://example.com/templates/..%2fsecret.yaml":                    path,
		"https://example.com/templates/%252e%252e/secret.yaml":              path,
		"https://example.com/templates/..;/secret.yaml":                     path,
		`https://example.com/templates/..\secret.yaml`:                      path,
		"https://example.com/templates//secret.yaml":                        path,
		"https://example.com/templates/a b":                                 path,
		"https://example.com/templates/a%20b":                               path,
		"https://example.com/templates/a%00b":                               path,
		"https://example.com/templates/\u212a":                              path,
		"https://example.com\\@evil.org/templates/pi.yaml":                  noURL,
		"https://example.com/templates/pi.yaml\nHost: evil.org":             noURL,
		"https://[::1/templates":                                            noURL,
		strings.Repeat("https://example.com/templates/", 3) + "%zz/pi.yaml": noURL,
	} {
		if got, refusal := allowed(t, list).Locate(text); refusal == nil || !strings.HasPrefix(refusal.Message, want) || refusal.Remedy == "" {
			t.Errorf("%q is %v, refused because it %v; want: %s", text, got, refusal, want)
		}
	}
}

func TestNothingIsAllowedByDefault(t *testing.T) {
	for _, text := range []string{"", " \n "} {
		if _, refusal := allowed(t, text).Locate("https://example.com/pi.yaml"); refusal == nil {
			t.Errorf("the list %q allows something", text)
		}
	}
}

func TestInvalidListsOfAllowedURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/ http://example.com/": `"http://example.com/" is not read: ` +
			`Firesteel reads templates by https, s3, gs, azblob, abfss and configmap: put the template at such a URL`,
		"example.com":                  `"example.com" is not read`,
		"https://":                     `"https://" names no host or bucket`,
		"https://example.com/?token=1": `"https://example.com/?token=1" has the query option "token": leave it out`,
		"s3://bucket/?profile=x": `"s3://bucket/?profile=x" has the query option "profile": ` +
			`leave it out; s3 has the options region, endpoint, anonymous`,
		"azblob://templates/":                             `"azblob://templates/" names no storage account: add ?storage_account=NAME`,
		"azblob://templates/?storage_account=a.evil.org/": `"azblob://templates/?storage_account=a.evil.org/" names no storage account`,
		"abfss://c01@a.dfs.core.windows.net/?endpoint=http://a": `"abfss://c01@a.dfs.core.windows.net/?endpoint=http://a" has the query option "endpoint": ` +
			`leave it out; abfss has the options anonymous`,
		"configmap://templates?anonymous=true": `"configmap://templates?anonymous=true" has the query option "anonymous": leave it out`,
		"https://u@example.com/":               `"https://u@example.com/" holds a user`,
		"https://example.com/a/../b":           `"https://example.com/a/../b" has a path that is not plain`,
		"https://example.com/%zz":              `"https://example.com/%zz" is no URL`,
	} {
		if _, err := podtemplate.ParseAllowed(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error is %v, want %s", text, err, want)
		}
	}
}

// Whatever a URL looks like: where it is allowed, it is under a prefix, host and all.
func FuzzLocate(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/templates/pi.yaml", "https://example.com/templates/../x", "https://example.com@x/templates/y",
		"s3://bucket/spark/x", "https://example.com/templates/%2e%2e/x", "https://example.com\\.x/templates/y",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, refusal := allowed(t, "https://example.com/templates/ s3://bucket/spark/").Locate(text)
		if refusal != nil {
			return
		}
		again, err := url.Parse(got.String())
		if err != nil || again.String() != got.String() || strings.Contains(got.Path, "..") && !strings.HasPrefix(got.Path, "/") {
			t.Errorf("%q became %s", text, got)
		}
		if !strings.HasPrefix(got.String(), "https://example.com/templates/") && !strings.HasPrefix(got.String(), "s3://bucket/spark/") {
			t.Errorf("%q became %s", text, got)
		}
		for _, segment := range strings.Split(got.Path, "/")[1:] {
			if segment == ".." || segment == "." {
				t.Errorf("%q became %s", text, got)
			}
		}
	})
}
