package access

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrUnauthenticated means that the API server does not know the token.
	ErrUnauthenticated = errors.New("not authenticated")
	// ErrNotAllowed means that the API server refuses the user what was asked.
	ErrNotAllowed = errors.New("not allowed")
	// ErrUnavailable means that the API server gave no answer: nothing is known about the user.
	ErrUnavailable = errors.New("the API server cannot be asked")
	// ErrBusy means that too many others ask at the same time: nothing is known about the user.
	ErrBusy = errors.New("too many requests are under way: try again later")
)

// Allowed reads the error of a check: whether the user has the right, or why that is not known.
func Allowed(err error) (bool, error) {
	if errors.Is(err, ErrNotAllowed) {
		return false, nil
	}
	return err == nil, err
}

// SystemPrefix begins the names of users and groups that Kubernetes keeps for itself.
const SystemPrefix = "system:"

// IsSystemName reports whether a name of a user or a group is one that Kubernetes keeps for itself.
func IsSystemName(name string) bool { return strings.HasPrefix(strings.ToLower(name), SystemPrefix) }

// MaxName bounds the name of a user or a group that the console takes from a proxy, in bytes.
const MaxName = 253

// IsName reports whether a user or a group of a proxy can have a name: it has printable characters, and no blank around them.
func IsName(name string) bool {
	return name != "" && len(name) <= MaxName && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// BearerToken returns the token in the value of a header Authorization; empty if it has none.
func BearerToken(value string) string {
	scheme, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Right is something that a user may do with a resource.
type Right struct {
	Verb, Group, Resource, Subresource string
	// Namespace is empty for all namespaces.
	Namespace string
	// Name is empty for all objects.
	Name string
}

// RightOn returns a right on objects of a resource that is named with its group, such as sparkapplications.spark.apache.org.
func RightOn(verb, resource, namespace, name string) Right {
	plural, group, _ := strings.Cut(resource, ".")
	return Right{Verb: verb, Group: group, Resource: plural, Namespace: namespace, Name: name}
}

// String describes the right as a role has it.
func (r Right) String() string {
	resource := r.Resource
	if r.Group != "" {
		resource += "." + r.Group
	}
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	text := r.Verb + " of " + resource
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace == "" {
		return text + " in all namespaces"
	}
	return text + " in the namespace " + r.Namespace
}
