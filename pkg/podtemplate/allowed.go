package podtemplate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Location is the location of a template.
type Location struct {
	// Scheme is https, s3, gs, azblob, abfss or configmap.
	Scheme string
	// Host is a host, with its port where that is not the scheme's own, or the name of a bucket or a ConfigMap. Of abfss it is
	// CONTAINER@HOST.
	Host string
	// Path begins with a slash, unless it is empty.
	Path string
	// Options are the operator's own word on how to reach a bucket.
	Options url.Values
	// Allowed are the locations that one may be sent on to from here.
	Allowed Allowed
}

// String is the location as a URL.
func (l Location) String() string { return l.Scheme + "://" + l.Host + l.Path }

// Allowed are the locations at and under which templates may be read.
type Allowed []Location

// schemes are what Firesteel reads templates by; s3a is another name for s3, and abfs for abfss.
const schemes = "https, s3, gs, azblob, abfss and configmap"

// bucketOptions are the options of a bucket that the operator may set in a query, by scheme: where it is, if not at the provider's own
// address, and that it is public. An application may not set them: it could send the operator's credentials to any address.
var bucketOptions = map[string][]string{
	"s3":     {"region", "endpoint", "anonymous"},
	"gs":     {"region", "endpoint", "anonymous"},
	"azblob": {"storage_account", "endpoint", "anonymous"},
	"abfss":  {"anonymous"},
}

// ParseAllowed reads URLs between white space. Each stands for what it names and all that is in that folder.
func ParseAllowed(text string) (Allowed, error) {
	var allowed Allowed
	for _, field := range strings.Fields(text) {
		u, err := url.Parse(field)
		if err != nil {
			return nil, fmt.Errorf("%q is no URL: write one such as https://example.com/templates/", field)
		}
		options := u.Query()
		u.RawQuery = ""
		location, refusal := locate(u)
		if refusal == nil {
			refusal = checkOptions(location, options)
		}
		if refusal != nil {
			return nil, fmt.Errorf("%q %w", field, refusal)
		}
		location.Options = options
		allowed = append(allowed, location)
	}
	return allowed, nil
}

func checkOptions(location Location, options url.Values) *finding.Finding {
	known := bucketOptions[location.Scheme]
	for option := range options {
		if !slices.Contains(known, option) {
			remedy := "leave it out"
			if len(known) > 0 {
				remedy += fmt.Sprintf("; %s has the options %s", location.Scheme, strings.Join(known, ", "))
			}
			return refuse(fmt.Sprintf("has the query option %q", option), remedy)
		}
	}
	if location.Scheme == "azblob" && options.Get("endpoint") == "" && !storageAccount().MatchString(options.Get("storage_account")) {
		return refuse("names no storage account", "add ?storage_account=NAME, of letters and digits, or the account's endpoint")
	}
	return nil
}

// storageAccount and container match what Azure takes for a name of one.
var (
	storageAccount = lazy.Regexp(`^[a-z0-9]{3,24}$`)
	container      = lazy.Regexp(`^[a-z0-9](-?[a-z0-9]){2,62}$`)
)

// NotAllowed is the message about a URL that would be read if the operator's settings allowed it.
const NotAllowed = "is not at a URL that the operator allows for templates"

// Locate finds a URL of an application among what is allowed.
func (a Allowed) Locate(text string) (Location, *finding.Finding) {
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, refuse("is no URL", "write one")
	}
	wanted, refusal := locate(u)
	if refusal != nil {
		return Location{}, refusal
	}
	for _, prefix := range a {
		if prefix.holds(wanted) {
			wanted.Options, wanted.Allowed = prefix.Options, a
			return wanted, nil
		}
	}
	return Location{}, refuse(NotAllowed,
		"have the operator add it to pod-template-urls in the ConfigMap config-defaults")
}

func (l Location) holds(wanted Location) bool {
	if l.Scheme != wanted.Scheme || l.Host != wanted.Host {
		return false
	}
	folder := strings.TrimSuffix(l.Path, "/") + "/"
	return wanted.Path == l.Path || strings.HasPrefix(wanted.Path, folder)
}

// plainPath matches paths that every reader takes for the same: no escapes, no empty, "." or ".." segments.
var plainPath = lazy.Regexp(`^(/[A-Za-z0-9._~+=@,:-]+)*/?$`)

// locate parses a URL and refuses URLs that could lead elsewhere than they seem to.
func locate(u *url.URL) (Location, *finding.Finding) {
	location := Location{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Path: u.Path}
	user := u.User
	switch location.Scheme {
	case "https":
		location.Host = strings.TrimSuffix(location.Host, ":443")
	case "s3a":
		location.Scheme = "s3"
	case "abfs", "abfss":
		name := user.Username()
		if _, password := user.Password(); password || !container().MatchString(name) {
			return location, refuse("names no container", "write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH")
		}
		if location.Scheme = "abfss"; location.Host != "" {
			location.Host = name + "@" + location.Host
		}
		user = nil
	case "s3", "gs", "azblob", "configmap":
	default:
		return location, refuse("is not read: Firesteel reads templates by "+schemes, "put the template at such a URL")
	}
	dots := strings.Contains(u.Path+"/", "/./") || strings.Contains(u.Path+"/", "/../")
	switch {
	case location.Host == "" || u.Opaque != "":
		return location, refuse("names no host or bucket", "name it")
	case user != nil:
		return location, refuse("holds a user", "leave it out")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return location, refuse("has a query or a fragment", "leave it out")
	case u.RawPath != "" || dots || !plainPath().MatchString(u.Path):
		return location, refuse("has a path that is not plain", "leave out escapes, special characters and dots")
	case location.Scheme == "configmap" && strings.Contains(strings.Trim(u.Path, "/"), "/"):
		return location, refuse("names no key of a ConfigMap", "write configmap://NAME/KEY")
	}
	return location, nil
}

// refuse returns why a template can never be read. The caller adds the field of the URL.
func refuse(message, remedy string) *finding.Finding {
	return &finding.Finding{Severity: finding.Error, Message: message, Remedy: remedy}
}
