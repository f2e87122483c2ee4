package submit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// undoTime bounds how long ConfigMaps are deleted after an error or an interrupt.
const undoTime = 10 * time.Second

// createWithConfigMaps creates the ConfigMaps of the folders of configuration, then the application that refers to them, and makes that
// their owner. If the application cannot be created, it deletes them.
func (s *submitter) createWithConfigMaps(
	ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, configMaps []sparksubmit.Object,
) (*unstructured.Unstructured, error) {
	if len(configMaps) == 0 {
		return s.create(ctx, resource, object)
	}
	var made []*unstructured.Unstructured
	for _, content := range configMaps {
		created, err := s.create(ctx, configMapResource, &unstructured.Unstructured{Object: content})
		if err != nil {
			return nil, s.undo(ctx, made, err)
		}
		made = append(made, created)
	}
	application, err := s.create(ctx, resource, object)
	if err != nil {
		return nil, s.undo(ctx, made, err)
	}
	for _, configMap := range made {
		fmt.Fprintf(s.ErrOut, "configmap/%s created%s\n", configMap.GetName(), s.dryRun.Note())
	}
	return application, s.own(ctx, application, made)
}

// own makes an application the owner of its ConfigMaps, so that they are deleted with it. The application runs without it, so a failure is a
// warning.
func (s *submitter) own(ctx context.Context, application *unstructured.Unstructured, configMaps []*unstructured.Unstructured) error {
	if s.dryRun != cli.DryRunNone {
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

// undo deletes ConfigMaps whose application could not be created, and returns the reason.
func (s *submitter) undo(ctx context.Context, configMaps []*unstructured.Unstructured, reason error) error {
	if s.dryRun != cli.DryRunNone {
		return reason
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
	uid := configMap.GetUID()
	err := client.Resource(configMapResource).Namespace(configMap.GetNamespace()).Delete(ctx, configMap.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
