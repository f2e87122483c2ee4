package pages

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// manifestView is an object as YAML, without the values of secrets.
type manifestView struct {
	// When says as of when it is.
	When    string
	Text    string
	Problem string
	Kept    bool
}

// maxManifest bounds the YAML that a page shows.
const maxManifest = 1 << 20

// manifest reads an object with the viewer's identity.
func (s *Server) manifest(v *view, row *live.Row) (*manifestView, error) {
	view := &manifestView{When: "the page was opened"}
	if view.Kept = v.URL.Query().Get(paramPart) == partHead; view.Kept {
		return view, nil
	}
	identity, err := v.viewer.Identity()
	if err != nil {
		return nil, err
	}
	object, err := identity.Object(v.Context(), row.Ref, versionOf(row))
	if err != nil {
		view.Problem = "The object cannot be read: " + err.Error()
		return view, nil
	}
	view.Text, err = manifestOf(object)
	return view, err
}

// versionOf returns the version in which a row was read, without its group.
func versionOf(row *live.Row) string {
	return row.APIVersion[strings.IndexByte(row.APIVersion, '/')+1:]
}

// manifestOf returns an object as YAML, without the values of secrets.
func manifestOf(object *unstructured.Unstructured) (string, error) {
	text, err := yaml.Marshal(redacted(object))
	if err != nil {
		return "", err
	}
	return string(text[:min(len(text), maxManifest)]), nil
}

// redacted returns the content of an object. What a redactor of the object finds is replaced.
func redacted(object *unstructured.Unstructured) map[string]any {
	redactor := (&overview.Object{Source: object}).Redactor()
	shown := object.DeepCopy()
	shown.SetManagedFields(nil)
	redactor.Fields("", shown.Object)
	if spec, ok := shown.Object["spec"].(map[string]any); ok {
		redactKeys(redactor, spec)
	}
	return shown.Object
}

// redactKeys replaces the values of secret keys, also those that are too short to be searched for.
func redactKeys(redactor *redact.Redactor, node any) {
	switch node := node.(type) {
	case map[string]any:
		for key, child := range node {
			if text, isText := child.(string); isText && text != "" && redactor.Value(key, "value") == redact.Mark {
				node[key] = redact.Mark
				continue
			}
			redactKeys(redactor, child)
		}
	case []any:
		for _, child := range node {
			redactKeys(redactor, child)
		}
	}
}

// eventsView are Kubernetes Events.
type eventsView struct {
	Rows []eventView
	// Problem says why they cannot be read, and None why there are none.
	Problem, None string
}

// eventView is a Kubernetes Event.
type eventView struct {
	At      instant
	Type    string
	Warning bool
	Reason  string
	Object  string
	Message string
	Count   string
}

const (
	// maxEventPods bounds the Pods whose Events are read: the driver or the master, and executors or workers that wait or failed.
	maxEventPods = 5
	maxEvents    = 200
)

// kubernetesEvents reads the Kubernetes Events about an object and some of its Pods, the newest first.
func (p *page) kubernetesEvents(v *view, row *live.Row, pods []live.Pod) (*eventsView, error) {
	view := &eventsView{None: "There are none, or no more: the API server keeps them for an hour."}
	identity, err := v.viewer.Identity()
	if err != nil {
		return nil, err
	}
	all, err := identity.Events(v.Context(), row.Namespace, row.Name, row.UID)
	asked := 0
	for i := range pods {
		pod := &pods[i]
		isQuiet := (pod.Role == "executor" || pod.Role == "worker") && pod.Phase == string(corev1.PodRunning)
		if err != nil || asked == maxEventPods || isQuiet {
			continue
		}
		asked++
		var ofPod []corev1.Event
		ofPod, err = identity.Events(v.Context(), row.Namespace, pod.Name, pod.UID)
		all = append(all, ofPod...)
	}
	if err != nil {
		view.Problem = "The Kubernetes Events cannot be read: " + err.Error()
		return view, nil
	}
	view.Rows = p.eventViews(all)
	return view, nil
}

// eventViews returns Kubernetes Events, the newest first.
func (p *page) eventViews(all []corev1.Event) (views []eventView) {
	slices.SortStableFunc(all, func(a, b corev1.Event) int { return why.LastSeen(&b).Compare(why.LastSeen(&a)) })
	for i := range all[:min(len(all), maxEvents)] {
		e := &all[i]
		views = append(views, eventView{
			At: p.clock.ago(why.LastSeen(e)), Type: cmp.Or(e.Type, corev1.EventTypeNormal), Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason,
			Object: e.InvolvedObject.Kind + " " + e.InvolvedObject.Name, Message: e.Message, Count: number(int64(max(e.Count, 1))),
		})
	}
	return views
}
