package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
)

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// undoTime bounds how long ConfigMaps are deleted after an error or an interrupt.
const undoTime = 10 * time.Second

// createWithConfigMaps creates the ConfigMaps of the folders of configuration, and the application that refers to them.
func (s *submitter) createWithConfigMaps(ctx context.Context, w *wanted) (application *unstructured.Unstructured, err error) {
	var all []*unstructured.Unstructured
	for _, content := range w.configMaps {
		all = append(all, &unstructured.Unstructured{Object: content})
	}
	var byName func(*unstructured.Unstructured) bool
	if w.unique {
		byName = actions.ByName
	}
	made, err := s.createOwner(ctx, all, byName, func(made []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
		isOurs := byName
		if isOurs == nil {
			isOurs = refersTo(made)
		}
		application, err = s.create(ctx, w.resource, w.object, isOurs)
		return application, err
	})
	for _, configMap := range made {
		fmt.Fprintf(s.ErrOut, "configmap/%s created%s\n", configMap.GetName(), s.dryRun.Note())
	}
	return application, err
}

// CreateWithConfigMap creates a ConfigMap, and the object of a manifest that refers to it and owns it. object gets the name of the ConfigMap, which
// the API server may have chosen.
func CreateWithConfigMap(
	ctx context.Context, o *cli.Options, configMap *corev1.ConfigMap, object func(name string) (*unstructured.Unstructured, error),
) (found *target.Found, err error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configMap)
	if err != nil {
		return nil, err
	}
	written := &unstructured.Unstructured{Object: content}
	written.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	s := &submitter{Options: o, dryRun: cli.DryRunNone}
	_, err = s.createOwner(ctx, []*unstructured.Unstructured{written}, nil, func(made []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
		application, err := object(made[0].GetName())
		if err != nil {
			return nil, err
		}
		if found, err = s.createObject(ctx, application, refersTo(made)); err != nil {
			return nil, err
		}
		return found.Unstructured, nil
	})
	return found, err
}

// createOwner creates ConfigMaps, and then the application that refers to them, and makes that their owner. If the application cannot be
// created, it deletes them. It returns the ConfigMaps. isOurs is about them, as in actions.Creation.
func (s *submitter) createOwner(
	ctx context.Context, configMaps []*unstructured.Unstructured, isOurs func(*unstructured.Unstructured) bool,
	create func(made []*unstructured.Unstructured) (*unstructured.Unstructured, error),
) (made []*unstructured.Unstructured, err error) {
	for _, configMap := range configMaps {
		created, err := s.create(ctx, configMapResource, configMap, isOurs)
		if err != nil {
			return nil, s.undo(ctx, made, err)
		}
		made = append(made, created)
	}
	application, err := create(made)
	if err != nil {
		return nil, s.undo(ctx, made, err)
	}
	return made, s.own(ctx, application, made)
}

// refersTo returns how an application is known that was created after ConfigMaps of this command, for which it names them; nil without any.
func refersTo(configMaps []*unstructured.Unstructured) func(*unstructured.Unstructured) bool {
	if len(configMaps) == 0 {
		return nil
	}
	return func(application *unstructured.Unstructured) bool {
		spec, err := json.Marshal(application.Object["spec"])
		return err == nil && !slices.ContainsFunc(configMaps, func(configMap *unstructured.Unstructured) bool {
			return !strings.Contains(string(spec), configMap.GetName()) ||
				application.GetCreationTimestamp().Time.Before(configMap.GetCreationTimestamp().Time)
		})
	}
}

// own makes an application the owner of its ConfigMaps, so that they are deleted with it. The application runs without it, so a failure is a
// warning.
func (s *submitter) own(ctx context.Context, application *unstructured.Unstructured, configMaps []*unstructured.Unstructured) error {
	if s.dryRun != cli.DryRunNone || len(configMaps) == 0 {
		return nil
	}
	client, err := s.Dynamic()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": []metav1.OwnerReference{{
		APIVersion: application.GetAPIVersion(), Kind: application.GetKind(), Name: application.GetName(), UID: application.GetUID(),
	}}}})
	if err != nil {
		return err
	}
	// An interrupt comes too late: the application is there.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	for _, configMap := range configMaps {
		_, err := client.Resource(configMapResource).Namespace(configMap.GetNamespace()).Patch(ctx, configMap.GetName(), types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil {
			s.Warn(fmt.Sprintf("configmap/%s stays when %s is deleted, since its owner cannot be set (%v): delete it then", configMap.GetName(), application.GetName(), err))
		}
	}
	return nil
}

// undo deletes ConfigMaps whose application could not be created, and returns the reason. If that is not known, they stay.
func (s *submitter) undo(ctx context.Context, configMaps []*unstructured.Unstructured, reason error) error {
	if s.dryRun != cli.DryRunNone || len(configMaps) == 0 {
		return reason
	}
	var unknown *actions.UnknownCreationError
	if errors.As(reason, &unknown) {
		var names []string
		for _, configMap := range configMaps {
			names = append(names, configMap.GetName())
		}
		return fmt.Errorf("%w. Its ConfigMaps stay: if it is not there, kubectl delete configmap %s -n %s removes them",
			reason, strings.Join(names, " "), configMaps[0].GetNamespace())
	}
	client, err := s.Dynamic()
	if err != nil {
		return reason
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	for _, configMap := range configMaps {
		if err := deleteOwn(ctx, client, configMap); err != nil {
			s.Warn(fmt.Sprintf("configmap/%s stays, since it cannot be deleted (%v): delete it", configMap.GetName(), err))
		}
	}
	return reason
}

// deleteOwn deletes a ConfigMap unless another one has taken its place.
func deleteOwn(ctx context.Context, client dynamic.Interface, configMap *unstructured.Unstructured) error {
	err := actions.Delete(ctx, client, &actions.Object{Unstructured: configMap, Resource: configMapResource}, actions.WriteOptions{})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
