package events

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Object is what an event is about: one incarnation of a custom resource. It has no version, since the versions
// of an API are views of the same object.
type Object struct {
	Group     string
	Resource  string
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
}

// Source is the object's path in the API, without version and with its uid: sequences count within a source.
func (o Object) Source() string {
	return "/" + strings.Join([]string{"apis", o.Group, "namespaces", o.Namespace, o.Resource, o.Name, string(o.UID)}, "/")
}

// Key is the object's namespace and name.
func (o Object) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// ParseSource reads an object from an event's source. It knows no kind.
func ParseSource(source string) (Object, error) {
	parts := strings.Split(source, "/")
	if len(parts) != 8 || parts[0] != "" || parts[1] != "apis" || parts[3] != "namespaces" {
		return Object{}, fmt.Errorf("source %.256q is not /apis/<group>/namespaces/<namespace>/<resource>/<name>/<uid>", source)
	}
	object := Object{
		Group: parts[2], Namespace: parts[4], Resource: parts[5], Name: parts[6], UID: types.UID(parts[7]),
	}
	return object, object.validatePath()
}

// NamespaceOf is the namespace that an event's source names; empty if the source is not of Firesteel's form.
func NamespaceOf(event cloudevents.Event) string {
	object, err := ParseSource(event.Source())
	if err != nil {
		return ""
	}
	return object.Namespace
}

// Identify reads from a received event which object it is about. Nothing in it is trusted: what does not have
// the shape of Firesteel's events, or contradicts itself, is a Permanent error. That the object exists and that
// the event tells the truth about it remains for the handler to find out.
func Identify(event cloudevents.Event) (Object, error) {
	object, err := ParseSource(event.Source())
	if err != nil {
		return Object{}, Permanent(err)
	}
	extensions := event.Extensions()
	object.Kind, _ = extensions[ExtensionKind].(string)
	err = errors.Join(
		validateKind(object.Kind),
		checkEqual("subject", event.Subject(), object.Key().String()),
		checkEqual(ExtensionNamespace, extensions[ExtensionNamespace], object.Namespace),
		checkEqual(ExtensionName, extensions[ExtensionName], object.Name),
	)
	if err != nil {
		return Object{}, Permanent(err)
	}
	return object, nil
}

func checkEqual(attribute string, got any, want string) error {
	if got != want {
		return fmt.Errorf("%s %.256q does not agree with the source, which says %q", attribute, fmt.Sprint(got), want)
	}
	return nil
}

func (o Object) validate() error {
	return errors.Join(o.validatePath(), validateKind(o.Kind))
}

func (o Object) validatePath() error {
	return errors.Join(
		validatePart("group", o.Group, validation.IsDNS1123Subdomain),
		validatePart("namespace", o.Namespace, validation.IsDNS1123Label),
		validatePart("resource", o.Resource, validation.IsDNS1123Label),
		validatePart("name", o.Name, validation.IsDNS1123Subdomain),
		validatePart("uid", string(o.UID), validation.IsDNS1123Label),
	)
}

func validatePart(field, value string, check func(string) []string) error {
	if problems := check(value); len(problems) > 0 {
		return fmt.Errorf("%s %.256q: %s", field, value, strings.Join(problems, "; "))
	}
	return nil
}

var kindPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

func validateKind(kind string) error {
	if !kindPattern.MatchString(kind) {
		return fmt.Errorf("kind %.256q is not the name of a kind", kind)
	}
	return nil
}
