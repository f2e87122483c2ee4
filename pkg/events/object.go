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

// Object identifies the object that an event is about, with its uid. It has no API version, since all versions show the same object. It
// is a custom resource, or a Namespace: see NamespaceObject.
type Object struct {
	Group     string
	Resource  string
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
}

// namespaceResource is the resource of Namespaces.
const namespaceResource = "namespaces"

// NamespaceObject returns a Namespace as the object of an event. It is in itself.
func NamespaceObject(name string, uid types.UID) Object {
	return Object{Resource: namespaceResource, Kind: "Namespace", Namespace: name, Name: name, UID: uid}
}

// IsNamespace reports whether the object is a Namespace.
func (o Object) IsNamespace() bool { return o.Group == "" && o.Resource == namespaceResource }

// Source returns the object's API path, without version and with its uid. Sequences are unique within a source.
func (o Object) Source() string {
	if o.IsNamespace() {
		return "/" + strings.Join([]string{"api", namespaceResource, o.Name, string(o.UID)}, "/")
	}
	return "/" + strings.Join([]string{"apis", o.Group, "namespaces", o.Namespace, o.Resource, o.Name, string(o.UID)}, "/")
}

// Key returns the object's namespace and name.
func (o Object) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// LogKeys returns the keys that name the object in a log line, as in those of its reconciles.
func (o Object) LogKeys() []any {
	return []any{"kind", o.Kind, "namespace", o.Namespace, "name", o.Name}
}

// ParseSource parses an event's source. The object that it returns has no kind.
func ParseSource(source string) (Object, error) {
	parts := strings.Split(source, "/")
	if len(parts) == 5 && parts[0] == "" && parts[1] == "api" && parts[2] == namespaceResource {
		object := NamespaceObject(parts[3], types.UID(parts[4]))
		object.Kind = ""
		return object, object.validatePath()
	}
	if len(parts) != 8 || parts[0] != "" || parts[1] != "apis" || parts[3] != "namespaces" {
		return Object{}, fmt.Errorf("source %.256q is neither /apis/<group>/namespaces/<namespace>/<resource>/<name>/<uid> nor /api/namespaces/<name>/<uid>", source)
	}
	object := Object{
		Group: parts[2], Namespace: parts[4], Resource: parts[5], Name: parts[6], UID: types.UID(parts[7]),
	}
	return object, object.validatePath()
}

// NamespaceOf returns the namespace in an event's source. It returns "" if the source is not in Firesteel's form.
func NamespaceOf(event cloudevents.Event) string {
	object, err := ParseSource(event.Source())
	if err != nil {
		return ""
	}
	return object.Namespace
}

// Identify returns the object that a received event is about. It returns a Permanent error if the event is not in Firesteel's form,
// or contradicts itself. The handler must check that the object exists and that the event is true.
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
		return fmt.Errorf("%s %.256q differs from the source, which has %q", attribute, fmt.Sprint(got), want)
	}
	return nil
}

func (o Object) validate() error {
	return errors.Join(o.validatePath(), validateKind(o.Kind))
}

func (o Object) validatePath() error {
	group := validatePart("group", o.Group, validation.IsDNS1123Subdomain)
	if o.IsNamespace() {
		group = nil
	}
	return errors.Join(
		group,
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
		return fmt.Errorf("kind %.256q is not a valid kind", kind)
	}
	return nil
}
