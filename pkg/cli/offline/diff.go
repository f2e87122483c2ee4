package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/check"
	planned "github.com/firesteel-dev/firesteel/pkg/check/plan"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
)

// liveCluster reads objects of the cluster.
type liveCluster struct {
	*cli.Options
	client dynamic.Interface
	mapper meta.RESTMapper
}

func (r *liveCluster) connect() (err error) {
	if r.client, err = r.Dynamic(); err != nil {
		return err
	}
	r.mapper, err = r.Connection.ToRESTMapper()
	return err
}

// get returns an object; nil if there is none.
func (r *liveCluster) get(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	object, err := r.client.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", kind.Kind, namespace, name, err)
	}
	return object, nil
}

// identify sets the UID, the generation, the creation time and the status of the manifests to those of the objects in the cluster. Names and labels
// of what is created depend on them.
func (r *liveCluster) identify(ctx context.Context, inputs []*input) error {
	for _, one := range inputs {
		if one.object == nil || one.object.GetName() == "" {
			continue
		}
		live, err := r.get(ctx, one.Header.GroupVersionKind(), one.object.GetNamespace(), one.object.GetName())
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		if one.object, err = identified(one.object, live); err != nil {
			return fmt.Errorf("%s:%d: %w", one.file, one.Line, err)
		}
	}
	return nil
}

// identified returns an object with these fields of another one.
func identified(object check.Object, live *unstructured.Unstructured) (check.Object, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var merged unstructured.Unstructured
	if err := merged.UnmarshalJSON(encoded); err != nil {
		return nil, err
	}
	merged.SetUID(live.GetUID())
	merged.SetGeneration(live.GetGeneration())
	merged.SetCreationTimestamp(live.GetCreationTimestamp())
	merged.Object["status"] = live.Object["status"]
	if encoded, err = merged.MarshalJSON(); err != nil {
		return nil, err
	}
	return check.Decode(encoded)
}

// printDiff prints how the objects in the cluster differ from the planned ones.
func (p *plan) printDiff(ctx context.Context, live *liveCluster, with *settings.Settings, drafts []*draft) error {
	comment(p.Out, with.String())
	different := false
	for _, draft := range drafts {
		p.warn(draft)
		for _, object := range draft.Objects {
			if planned.IsTemplate(object) {
				continue // the driver creates Pods from it, not a PodTemplate
			}
			existing, err := live.get(ctx, object.GroupVersionKind(), object.GetNamespace(), object.GetName())
			if err != nil {
				return err
			}
			if existing != nil && !p.showSecrets {
				planned.Hide(draft.input.JSON, existing)
			}
			before, after, err := planned.Texts(existing, object)
			if err != nil {
				return err
			}
			text, err := planned.Difference(before, after, planned.Name(object))
			if err != nil {
				return err
			}
			different = different || text != ""
			p.printDifference(text)
		}
	}
	if different {
		return &cli.FoundError{}
	}
	_, err := fmt.Fprintln(p.Out, "# What runs is what the manifest creates.")
	return err
}

func (p *plan) printDifference(text string) {
	for line := range strings.Lines(text) {
		content := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(content, "+"):
			content = p.Color(p.Out, cli.Good, content)
		case strings.HasPrefix(content, "-"):
			content = p.Color(p.Out, cli.Bad, content)
		}
		fmt.Fprintln(p.Out, content)
	}
}
