// Package applications reads and writes the applications of every API that Firesteel serves.
package applications

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// API is an API that Firesteel serves, with the client of its applications.
type API struct {
	*dialect.API
	// Dialect returns the dialect of the API with the given settings.
	Dialect func(*config.Config) dialect.Dialect

	client  func(namespace string) kube.Client[dialect.Application]
	compact func(object any)
}

// Apache returns the API spark.apache.org.
func Apache(clients kube.Clients) *API {
	return &API{
		API:     apache.API,
		Dialect: func(settings *config.Config) dialect.Dialect { return apache.New(settings.OfApache()) },
		client: func(namespace string) kube.Client[dialect.Application] {
			return kube.ClientOf[dialect.Application](clients.SparkV1().SparkApplications(namespace))
		},
		compact: compactApache,
	}
}

// Kubeflow returns the API sparkoperator.k8s.io.
func Kubeflow(clients kube.Clients) *API {
	return &API{
		API:     kubeflow.API,
		Dialect: func(settings *config.Config) dialect.Dialect { return kubeflow.New(settings.OfKubeflow()) },
		client: func(namespace string) kube.Client[dialect.Application] {
			return kube.ClientOf[dialect.Application](clients.SparkoperatorV1beta2().SparkApplications(namespace))
		},
		compact: compactKubeflow,
	}
}

// Early returns the API spark-operator.k8s.io.
func Early(clients kube.Clients) *API {
	return &API{
		API:     early.API,
		Dialect: func(settings *config.Config) dialect.Dialect { return early.New(settings.OfEarly()) },
		client: func(namespace string) kube.Client[dialect.Application] {
			return kube.ClientOf[dialect.Application](clients.EarlyV1alpha1().SparkApplications(namespace))
		},
		compact: compactEarly,
	}
}

// served lists the APIs. What is done for each API goes through this list, if no generated type of the API is needed.
var served = []func(kube.Clients) *API{Apache, Kubeflow, Early}

// All returns the APIs by their groups.
func All(clients kube.Clients) map[string]*API {
	apis := map[string]*API{}
	for _, api := range served {
		api := api(clients)
		apis[api.Group] = api
	}
	return apis
}

// APIs returns the names that the APIs use, in a fixed order.
func APIs() (apis []*dialect.API) {
	for _, api := range served {
		apis = append(apis, api(nil).API)
	}
	return apis
}

// PodSelectors returns the label selectors of the Pods to watch, of all APIs.
func PodSelectors() (drivers, executors []string) {
	for _, api := range APIs() {
		drivers, executors = append(drivers, api.DriverSelector), append(executors, api.ExecutorSelector)
	}
	return drivers, executors
}

// Get reads an application.
func (a *API) Get(ctx context.Context, name types.NamespacedName) (dialect.Application, error) {
	return a.client(name.Namespace).Get(ctx, name.Name)
}

// CheckUnchanged reads an application live. If the application changed since it was read, it returns a conflict: another
// replica may have moved on.
func (a *API) CheckUnchanged(ctx context.Context, app dialect.Application) error {
	live, err := a.Get(ctx, cache.MetaObjectToName(app).AsNamespacedName())
	if err != nil {
		return fmt.Errorf("read application again: %w", err)
	}
	if live.GetUID() != app.GetUID() || live.GetResourceVersion() != app.GetResourceVersion() {
		return apierrors.NewConflict(a.GroupResource(), app.GetName(), errors.New("the application changed since it was read"))
	}
	return nil
}

// UpdateStatus writes the status of an application with the resourceVersion that was read. It returns the application as the
// API server stored it.
func (a *API) UpdateStatus(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	return a.client(app.GetNamespace()).UpdateStatus(ctx, app)
}

// PatchStatus patches the status of an application by a merge patch.
func (a *API) PatchStatus(ctx context.Context, app dialect.Application, patch []byte) error {
	_, err := a.client(app.GetNamespace()).Patch(ctx, app.GetName(), patch, "status")
	return err
}

// GiveVerdict writes a verdict into the record of an application, if the application did not change since it was read. It
// writes nothing else of the record: a newer version of Firesteel may have fields there that this one does not know.
func (a *API) GiveVerdict(ctx context.Context, app dialect.Application, verdict v1alpha1.Verdict) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": app.GetResourceVersion()},
		"status": map[string]any{"firesteel": map[string]any{"verdict": map[string]any{
			"attempt": verdict.Attempt, "restart": verdict.Restart,
			// Null removes the values of an earlier verdict if this one has none.
			"notBefore": verdict.NotBefore, "reason": orNull(verdict.Reason),
		}}},
	})
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	return a.PatchStatus(ctx, app, patch)
}

// orNull returns the value of a text in a merge patch. For an empty text it is null, which removes the field.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// HasFinalizer reports whether an application has Firesteel's finalizer.
func (a *API) HasFinalizer(app dialect.Application) bool {
	return slices.Contains(app.GetFinalizers(), a.Finalizer)
}

// AddFinalizer adds Firesteel's finalizer to an application and sets annotations, if the application did not change since it
// was read. It returns the application as the API server stored it.
func (a *API) AddFinalizer(ctx context.Context, app dialect.Application, annotations map[string]string) (dialect.Application, error) {
	finalizers := app.GetFinalizers()
	if !a.HasFinalizer(app) {
		finalizers = append(slices.Clone(finalizers), a.Finalizer)
	}
	metadata := map[string]any{"finalizers": finalizers}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	stored, err := a.patchMetadata(ctx, app, metadata)
	if err != nil {
		return nil, fmt.Errorf("add finalizer %s: %w", a.Finalizer, err)
	}
	return stored, nil
}

// DropFinalizer removes Firesteel's finalizer and some annotations from an application, if it did not change since it was
// read. It returns the application as the API server stored it.
func (a *API) DropFinalizer(ctx context.Context, app dialect.Application, annotations ...string) (dialect.Application, error) {
	finalizers := slices.DeleteFunc(slices.Clone(app.GetFinalizers()), func(name string) bool { return name == a.Finalizer })
	metadata := map[string]any{"finalizers": finalizers}
	removed := map[string]any{}
	for _, name := range annotations {
		if _, ok := app.GetAnnotations()[name]; ok {
			removed[name] = nil // a null in the merge patch removes it
		}
	}
	if len(removed) > 0 {
		metadata["annotations"] = removed
	}
	stored, err := a.patchMetadata(ctx, app, metadata)
	if err != nil {
		return nil, fmt.Errorf("remove finalizer %s: %w", a.Finalizer, err)
	}
	return stored, nil
}

// patchMetadata patches the metadata of an application by a merge patch, if the application did not change since it was
// read.
func (a *API) patchMetadata(ctx context.Context, app dialect.Application, metadata map[string]any) (dialect.Application, error) {
	metadata["resourceVersion"] = app.GetResourceVersion()
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	stored, err := a.client(app.GetNamespace()).Patch(ctx, app.GetName(), patch)
	if err != nil {
		return nil, err
	}
	stored.SetManagedFields(nil)
	return stored, nil
}

// Delete deletes an application, if it did not change since it was read.
func (a *API) Delete(ctx context.Context, app dialect.Application) error {
	uid, version := app.GetUID(), app.GetResourceVersion()
	return a.client(app.GetNamespace()).Delete(ctx, app.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
}
