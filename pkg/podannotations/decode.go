package podannotations

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/json"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// objectName returns the name of a config map that an annotation has as its value.
func (e entry) objectName() (string, error) {
	name := strings.TrimSpace(e.value)
	if problem := nameProblem(name); problem != "" {
		return "", e.refuse("is no name of a ConfigMap ("+problem+")", "write the name of a ConfigMap in the Pod's namespace")
	}
	return name, nil
}

// mount returns the name of a config map or a secret, and the path at which it is to be mounted.
func (n named) mount(what string) (name, mountPath string, err error) {
	if problem := nameProblem(n.name); problem != "" {
		return "", "", &finding.Finding{
			Severity: finding.Error, Field: n.field(), Message: "names no " + what + " (" + problem + ")",
			Remedy: "end the key with the name of a " + what + " in the Pod's namespace",
		}
	}
	mountPath = strings.TrimSpace(n.value)
	if !path.IsAbs(mountPath) || strings.Contains(mountPath, ":") {
		return "", "", n.refuse("is no path to mount the "+what+" at", "write an absolute path without a colon, such as /etc/"+n.name)
	}
	return n.name, path.Clean(mountPath), nil
}

func nameProblem(name string) string {
	return text.Clip(strings.Join(validation.IsDNS1123Subdomain(name), "; "), maxPrinted)
}

// message is a type that an annotation may hold as protobuf.
type message[T any] interface {
	*T
	Unmarshal(data []byte) error
}

// decode reads a value that begins with a brace as JSON, and any other as protobuf in base64. missing names the fields that the result
// lacks; example shows what to write.
func decode[T any, M message[T]](e entry, example string, missing func(*T) string) (*T, error) {
	into := new(T)
	value := strings.TrimSpace(e.value)
	var err error
	if strings.HasPrefix(value, "{") {
		err = decodeJSON([]byte(value), into)
	} else {
		err = decodeProtobuf(value, M(into))
	}
	if err == nil {
		if fields := missing(into); fields != "" {
			err = fmt.Errorf("it has no %s", fields)
		}
	}
	if err != nil {
		return nil, e.refuse(fmt.Sprintf("is no %s (%s)", reflect.TypeFor[T]().Name(), text.Clip(err.Error(), 2*maxPrinted)),
			"write it as JSON, such as "+example+", or as protobuf in base64")
	}
	return into, nil
}

func decodeJSON(value []byte, into any) error {
	of := reflect.TypeOf(into).Elem()
	if err := quantity.Check(value, of); err != nil {
		return err
	}
	if err := codec.CheckWeight(value, of); err != nil {
		return err
	}
	// A misspelt field would silently have no effect.
	unknown, err := json.UnmarshalStrict(value, into)
	if err == nil && len(unknown) > 0 {
		err = unknown[0]
	}
	return err
}

// largeExponent matches a number whose exponent Kubernetes' parser of quantities would compute with for ever.
var largeExponent = regexp.MustCompile(`[0-9.][eE]+[+-]*0*[0-9]{3}`)

func decodeProtobuf(value string, into interface{ Unmarshal(data []byte) error }) (err error) {
	data, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return fmt.Errorf("it neither begins with { nor is it base64: %w", err)
	}
	if _, isVolume := into.(*corev1.Volume); isVolume && largeExponent.Match(data) {
		return errors.New("it may have a quantity with a large exponent")
	}
	return into.Unmarshal(data)
}

func missingOfOwner(owner *metav1.OwnerReference) string {
	return lacks("apiVersion", owner.APIVersion, "kind", owner.Kind, "name", owner.Name, "uid", string(owner.UID))
}

func missingOfVolume(found *corev1.Volume) string {
	if found.VolumeSource == (corev1.VolumeSource{}) {
		return "source, such as emptyDir"
	}
	return lacks("name", found.Name)
}

func missingOfMount(mount *corev1.VolumeMount) string {
	return lacks("name", mount.Name, "mountPath", mount.MountPath)
}

func missingOfAffinity(found *corev1.Affinity) string {
	if found.NodeAffinity == nil && found.PodAffinity == nil && found.PodAntiAffinity == nil {
		return "nodeAffinity, podAffinity or podAntiAffinity"
	}
	return ""
}

func missingOfToleration(found *corev1.Toleration) string {
	if *found == (corev1.Toleration{}) {
		return "field"
	}
	return ""
}

// lacks returns the names of the fields that are empty. Each name is followed by its value.
func lacks(fields ...string) string {
	var empty []string
	for field := range slices.Chunk(fields, 2) {
		if name, value := field[0], field[1]; value == "" {
			empty = append(empty, name)
		}
	}
	return strings.Join(empty, ", ")
}
