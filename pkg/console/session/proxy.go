package session

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// The headers by which a trusted proxy says who the user is, and SecretHeader by which it proves that it is the proxy. Requests of others with any of them are
// refused.
const (
	UserHeader   = "X-Firesteel-User"
	GroupsHeader = "X-Firesteel-Groups"
	SecretHeader = "X-Firesteel-Proxy-Secret"
)

const (
	// secretFile is the entry of the Secret with what the proxy proves itself by.
	secretFile = "secret"
	// maxClaimedGroups bounds the groups of a user.
	maxClaimedGroups = 256
	// proxyLife is how long a credential is used that a proxy's word made, such as for a stream or a visit of a Spark UI.
	proxyLife = time.Hour
	// credentialPrefix begins the credentials, and forProxy is what they are sealed for.
	credentialPrefix, forProxy = "firesteel-proxy.", "user of a proxy 1"
)

// Proxy trusts a proxy's word on who the user is: with the proxy's secret, for users of listed groups. The user has no token then, and a credential
// takes its place, which only the console can make and read.
type Proxy struct {
	key *Key
	// secret is the hash of the proxy's secret; empty without one.
	secret []byte
	groups func() []string
	clock  clock.PassiveClock
}

// Impersonated is a user for whom the console asks as itself, in the user's name.
type Impersonated struct {
	User string `json:"u"`
	// Groups are those of the user's groups that are listed.
	Groups []string `json:"g"`
	// Ends is when the credential ends, in seconds since 1970.
	Ends int64 `json:"e"`
}

// LoadProxySecret reads the proxy's secret from a folder with the entries of a Secret. It is empty without the entry, or without a folder.
func LoadProxySecret(folder string) ([]byte, error) {
	secret, err := readEntry(folder, secretFile, "the secret of the proxy")
	if secret == nil || err != nil {
		return nil, err
	}
	secret = bytes.TrimSpace(secret)
	return secret, checkLength(secret, secretFile, "the secret of the proxy", "openssl rand -hex 32")
}

// NewProxy returns a Proxy that trusts users of groups. Without a secret, or without groups, it trusts nobody.
func NewProxy(key *Key, secret []byte, groups func() []string, clock clock.PassiveClock) *Proxy {
	p := &Proxy{key: key, groups: groups, clock: clock}
	if len(secret) > 0 {
		sum := sha256.Sum256(secret)
		p.secret = sum[:]
	}
	return p
}

// proxyError is why the word of a proxy is not taken.
type proxyError struct{ message string }

func (e *proxyError) Error() string { return e.message }

// Unwrap returns access.ErrUnauthenticated.
func (e *proxyError) Unwrap() error { return access.ErrUnauthenticated }

// Refused returns the error of a user of a proxy who may not come in.
func Refused(format string, arguments ...any) error {
	return &proxyError{fmt.Sprintf(format, arguments...)}
}

// credential returns the credential of the user that the headers of a request name; empty if they name none. A request that has one of these headers
// and no proof is refused, whatever else it has.
func (p *Proxy) credential(header http.Header) (string, error) {
	users, groups, secrets := header.Values(UserHeader), header.Values(GroupsHeader), header.Values(SecretHeader)
	if len(users)+len(groups)+len(secrets) == 0 {
		return "", nil
	}
	if p == nil || len(p.secret) == 0 || len(p.groups()) == 0 {
		return "", Refused("the request has the header %s, %s or %s, and this console trusts no proxy: remove the headers", UserHeader, GroupsHeader, SecretHeader)
	}
	given := sha256.Sum256([]byte(strings.Join(secrets, ",")))
	switch {
	case subtle.ConstantTimeCompare(given[:], p.secret) != 1:
		return "", Refused("the request says who the user is, and does not prove that the proxy sent it: %s has another secret than the Secret console-proxy", SecretHeader)
	case len(users) != 1:
		return "", Refused("the request has the header %s %d times: the proxy must send one", UserHeader, len(users))
	case header.Get("Authorization") != "" || len(header.Values(api.TokenHeader)) > 0:
		return "", Refused("the request has a token, and %s: the proxy must send one of both", UserHeader)
	}
	claimed, err := claim(users[0], groups)
	if err != nil {
		return "", err
	}
	if p.leaveListed(claimed); len(claimed.Groups) == 0 {
		return "", Refused("you are in no group that may use this console: the admin lists groups as impersonation-groups in the ConfigMap config-console")
	}
	claimed.Ends = p.clock.Now().Add(proxyLife).Unix()
	encoded, err := json.Marshal(claimed)
	if err != nil {
		return "", fmt.Errorf("encode the user: %w", err)
	}
	return credentialPrefix + base64.RawURLEncoding.EncodeToString(p.key.Seal(forProxy, encoded)), nil
}

// leaveListed removes the groups that are not listed now.
func (p *Proxy) leaveListed(user *Impersonated) {
	listed := p.groups()
	user.Groups = slices.DeleteFunc(user.Groups, func(group string) bool { return !slices.Contains(listed, group) })
}

// claim reads who the user is. Groups are separated by commas, or in headers of their own.
func claim(user string, lines []string) (*Impersonated, error) {
	if err := checkName(UserHeader, user); err != nil {
		return nil, err
	}
	claimed := &Impersonated{User: user}
	for group := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		if group = strings.TrimSpace(group); group == "" || slices.Contains(claimed.Groups, group) {
			continue
		}
		if err := checkName(GroupsHeader, group); err != nil {
			return nil, err
		}
		if claimed.Groups = append(claimed.Groups, group); len(claimed.Groups) > maxClaimedGroups {
			return nil, Refused("%s has more than %d groups: let the proxy send fewer", GroupsHeader, maxClaimedGroups)
		}
	}
	return claimed, nil
}

// checkName returns an error for a name that no user or group of a proxy has.
func checkName(header, name string) error {
	switch {
	case !access.IsName(name):
		return Refused("%s has the name %.64q: send up to %d printable characters", header, name, access.MaxName)
	case access.IsSystemName(name):
		return Refused("%s has the name %.64q: names with %s are Kubernetes' own, and nobody signs in by them", header, name, access.SystemPrefix)
	}
	return nil
}

// Identity returns the user of a credential, with the groups that are still listed, and false if a token is no credential. Its error is
// access.ErrUnauthenticated.
func (p *Proxy) Identity(token string) (*Impersonated, bool, error) {
	sealed, ok := strings.CutPrefix(token, credentialPrefix)
	if !ok {
		return nil, false, nil
	}
	refused := fmt.Errorf("%w: sign in again", access.ErrUnauthenticated)
	decoded, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || p == nil || len(p.secret) == 0 {
		return nil, true, refused
	}
	opened, err := p.key.Open(forProxy, decoded)
	if err != nil {
		return nil, true, refused
	}
	var claimed Impersonated
	if json.Unmarshal(opened, &claimed) != nil || !time.Unix(claimed.Ends, 0).After(p.clock.Now()) {
		return nil, true, refused
	}
	if p.leaveListed(&claimed); len(claimed.Groups) == 0 {
		return nil, true, refused
	}
	return &claimed, true, nil
}
