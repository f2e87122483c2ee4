package migration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/objectdiff"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Ignored are the fields of drivers whose difference never matters, and why. A star stands for anything.
var Ignored = []struct{ Field, Why string }{
	{"metadata.name", "generated"},
	{"metadata.generateName", "generated"},
	{"metadata.ownerReferences*", "the application owns the driver in either case"},
	{"metadata.labels[spark-app-selector]", "the id of the attempt"},
	{"metadata.labels[sparkoperator.k8s.io/submission-id]", "the id of the attempt"},
	{"metadata.labels[firesteel.dev/*]", "labels by which Firesteel finds its own objects"},
	{"metadata.annotations[spark-exit-exception]", "written by the driver"},
	{"metadata.annotations[cni.projectcalico.org/*]", "written by the network of the node"},
	{"metadata.annotations[k8s.v1.cni.cncf.io/*]", "written by the network of the node"},
	{"metadata.annotations[k8s.ovn.org/*]", "written by the network of the node"},
	{"metadata.annotations[kubernetes.io/limit-ranger]", "a LimitRange gives its defaults to Firesteel's drivers, too"},
	{"spec.nodeName", "chosen by the scheduler"},
	{"spec.overhead", "follows from the runtime class"},
	{"spec.containers[*].env[SPARK_APPLICATION_ID]*", "the id of the attempt"},
	{"spec.volumes[spark-conf-volume-driver]*", "the ConfigMap of the attempt: its name, and the files of the JVM that submitted"},
	{"spec.volumes[pod-template-volume]*", "the ConfigMap of the attempt with the template of the executors"},
}

// matches reports whether a field has the form of a pattern.
func matches(pattern, field string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, found := strings.CutPrefix(field, parts[0])
	if last == 0 || !found {
		return found && rest == ""
	}
	for _, part := range parts[1:last] {
		if _, rest, found = strings.Cut(rest, part); !found {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// meanings are what differences mean. The first row that matches counts.
var meanings = []struct {
	field string
	// added reports whether the row is about a field that only the other operator's driver has.
	added   bool
	meaning string
}{
	{"spec.containers[*].image", false, "another image: check the image of the application and of the settings"},
	{"spec.containers[*].resources*", false, "requests or limits differ: quotas and scheduling see another size"},
	{"spec.serviceAccountName", false, "the driver would have the rights of another account: set driver-service-account"},
	{"spec.serviceAccount", false, "the driver would have the rights of another account: set driver-service-account"},
	{"spec.nodeSelector*", false, "the driver may run on other nodes"},
	{"spec.affinity*", false, "the driver may run on other nodes"},
	{"spec.tolerations*", false, "the driver may run on other nodes"},
	{"spec.schedulerName", false, "another scheduler places it: see batch-schedulers"},
	{"spec.priorityClassName", false, "it is preempted otherwise"},
	{"*ecurityContext*", false, "the driver runs with other rights on the node"},
	{"spec.containers[*].env[SPARK_USER]*", false, "the user whom Hadoop sees; that of the JVM that submitted"},
	{"spec.containers[*].env[*]*", true, "a variable that neither the application nor Spark sets: a webhook adds it, or the settings lack it"},
	{"spec.containers[*].args", false, "the driver is started with other arguments"},
	{"spec.volumes[*]*", true, "a volume that neither the application nor Spark asks for: a webhook adds it"},
	{"spec.containers[*].volumeMounts[*]*", true, "a volume that neither the application nor Spark asks for: a webhook adds it"},
	{"metadata.annotations[*]", true, "an annotation that neither the application nor Spark sets: a webhook or the node adds it"},
	{"metadata.labels[*]", false, "what selects Pods by this label sees a difference"},
}

// addedContainer is the meaning of a container that only the other operator's driver has.
const addedContainer = "a container that neither the application nor Spark asks for: a webhook adds it, and will add it to Firesteel's drivers, too, unless it selects them otherwise"

// DriverDifference is a field that another operator's driver and Firesteel's have with different values.
type DriverDifference struct {
	Field string
	// Theirs and Ours are the values, redacted and clipped; none if a driver does not have the field.
	Theirs, Ours string
	// Meaning is what the difference means for the driver; empty if that is not known.
	Meaning string
}

const (
	none     = "(none)"
	maxValue = 200
	// limitRanger is the annotation of a Pod that got requests or limits from a LimitRange. Firesteel's drivers get them, too.
	limitRanger = "kubernetes.io/limit-ranger"
)

// CompareDrivers returns how another operator's driver differs from the one that Firesteel would make. It ignores what the API server fills in,
// and what never matters (Ignored).
func CompareDrivers(theirs, ours *corev1.Pod, r *redact.Redactor) ([]DriverDifference, error) {
	a, err := asCompared(theirs)
	if err != nil {
		return nil, err
	}
	b, err := asCompared(ours)
	if err != nil {
		return nil, err
	}
	var found []DriverDifference
	for _, d := range objectdiff.Differences(a, b) {
		byLimitRange := theirs.Annotations[limitRanger] != "" && d.B == nil && matches(resources, d.Field)
		if isIgnored(d.Field) || byLimitRange {
			continue
		}
		found = append(found, DriverDifference{
			Field: d.Field, Theirs: shown(d.Field, d.A, r), Ours: shown(d.Field, d.B, r), Meaning: meaning(d.Field, d.A != nil && d.B == nil),
		})
	}
	return found, nil
}

// asCompared returns the parts of a Pod that are compared, as JSON.
func asCompared(pod *corev1.Pod) (objectdiff.Object, error) {
	encoded, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"name": pod.Name, "labels": pod.Labels, "annotations": pod.Annotations, "ownerReferences": pod.OwnerReferences, "finalizers": pod.Finalizers,
		},
		"spec": pod.Spec,
	})
	if err != nil {
		return nil, fmt.Errorf("the Pod %s/%s cannot be compared: %w", pod.Namespace, pod.Name, err)
	}
	var object objectdiff.Object
	if err := json.Unmarshal([]byte(withoutIDs(string(encoded))), &object); err != nil {
		return nil, fmt.Errorf("the Pod %s/%s cannot be compared: %w", pod.Namespace, pod.Name, err)
	}
	spec, _ := object["spec"].(objectdiff.Object)
	withoutToken(spec)
	objectdiff.DropPodDefaults(spec)
	objectdiff.DropEmpty(object)
	return object, nil
}

// IDs that are different in each attempt.
var (
	localDirs = lazy.Regexp(`/var/data/spark-[0-9a-f-]{36}`)
	uniqueIDs = lazy.Regexp(`\b[0-9a-f]{16}\b`)
	appIDs    = lazy.Regexp(`\bspark-[0-9a-f]{32}\b`)
	claims    = lazy.Regexp(`[a-z0-9.-]+-driver-pvc-[a-z0-9-]+`)
	uploads   = lazy.Regexp(`\bspark-upload-[0-9a-f-]{36}`)
)

// withoutIDs replaces the IDs of an attempt by constants.
func withoutIDs(text string) string {
	text = localDirs().ReplaceAllString(text, "/var/data/spark-ID")
	text = appIDs().ReplaceAllString(text, "spark-ID")
	text = claims().ReplaceAllString(text, "driver-pvc")
	text = uploads().ReplaceAllString(text, "spark-upload-ID")
	return uniqueIDs().ReplaceAllString(text, "ID")
}

// withoutToken removes the volume with the token of the account, which the API server adds to each Pod.
func withoutToken(spec objectdiff.Object) {
	removeItems(spec, "volumes", objectdiff.IsAccountToken)
	for _, key := range []string{"containers", "initContainers"} {
		containers, _ := spec[key].([]any)
		for _, container := range containers {
			if c, ok := container.(objectdiff.Object); ok {
				removeItems(c, "volumeMounts", objectdiff.IsAccountToken)
			}
		}
	}
}

// removeItems removes the items of the list at a key that a function selects.
func removeItems(object objectdiff.Object, key string, selects func(any) bool) {
	list, _ := object[key].([]any)
	kept := []any{}
	for _, item := range list {
		if !selects(item) {
			kept = append(kept, item)
		}
	}
	object[key] = kept
}

func isIgnored(field string) bool {
	for _, entry := range Ignored {
		if matches(entry.Field, field) {
			return true
		}
	}
	return false
}

func meaning(field string, added bool) string {
	if added && oneContainer.MatchString(field) {
		return addedContainer
	}
	for _, m := range meanings {
		if (added || !m.added) && matches(m.field, field) {
			return m.meaning
		}
	}
	return ""
}

// oneContainer matches the path of a container, and no path of a field in it.
var oneContainer = regexp.MustCompile(`^spec\.(initC|c)ontainers\[[^\]]*\]$`)

const resources = "spec.containers[*].resources*"

var inBrackets = regexp.MustCompile(`\[([^\[\]]*)\](\.value)?$`)

// shown returns a value as a text. It redacts the secrets of the object, and values whose key names a secret.
func shown(field string, value any, r *redact.Redactor) string {
	if value == nil {
		return none
	}
	if container, ok := value.(objectdiff.Object); ok && oneContainer.MatchString(field) {
		return "image " + text.Clip(r.Text(fmt.Sprint(container["image"])), maxValue)
	}
	value = r.Fields("", value)
	encoded, ok := value.(string)
	if !ok {
		marshalled, err := json.Marshal(value)
		if err != nil {
			return none
		}
		encoded = string(marshalled)
	}
	if key := inBrackets.FindStringSubmatch(field); key != nil {
		encoded = r.Value(key[1], encoded)
	}
	return text.Clip(r.Text(encoded), maxValue)
}

// AddDriver adds the differences of a driver that was compared. kind and name are those of its application.
func (r *Report) AddDriver(kind, name string, differences []DriverDifference) {
	r.Drivers.Compared++
	if len(differences) == 0 {
		r.Drivers.Equal++
		return
	}
	for _, d := range differences {
		message := fmt.Sprintf("%s: %s, with Firesteel %s", d.Field, d.Theirs, d.Ours)
		if d.Meaning != "" {
			message += ": " + d.Meaning
		}
		r.Add(strings.Join([]string{d.Field, presence(d)}, "\x00"), Item{Severity: Differs, Area: Drivers, Kind: kind, Field: d.Field, Message: message}, name)
	}
}

// presence distinguishes what only one driver has from what differs.
func presence(d DriverDifference) string {
	return fmt.Sprint(d.Theirs == none, d.Ours == none)
}
