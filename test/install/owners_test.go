package install

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
)

// cluster is what templates look up.
type cluster []runtime.Object

func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	group, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, false, err
	}
	resource := group.WithResource(strings.ToLower(kind) + "s")
	lists := map[schema.GroupVersionResource]string{resource: kind + "List"}
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, c...).Resource(resource), false, nil
}

func crd(name string, labels, annotations map[string]string, managers ...string) *object {
	o := &object{}
	o.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	o.SetName(name)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	var entries []metav1.ManagedFieldsEntry
	for _, manager := range managers {
		entries = append(entries, metav1.ManagedFieldsEntry{Manager: manager})
	}
	o.SetManagedFields(entries)
	return o
}

func TestInstallationNamesTheOwnersOfForeignCRDs(t *testing.T) {
	const kubeflow, apache = "sparkapplications.sparkoperator.k8s.io", "sparkapplications.spark.apache.org"
	ours := crd("sparkclusters.spark.apache.org", map[string]string{"app.kubernetes.io/part-of": "firesteel"}, nil, "kubectl")
	byRelease := crd(kubeflow, nil, map[string]string{"meta.helm.sh/release-name": "spark-operator", "meta.helm.sh/release-namespace": "spark"}, "helm")
	byHand := crd(apache, map[string]string{"app": "spark"}, nil, "kubectl-create", "kubectl-create", "kube-apiserver")
	plain := crd(apache, nil, nil)
	for name, test := range map[string]struct {
		there  cluster
		values map[string]any
		want   []string
	}{
		"nothing is there":           {},
		"Firesteel's own":            {there: cluster{ours}},
		"of a release":               {there: cluster{ours, byRelease}, want: []string{"the CRD " + kubeflow + " belongs to the Helm release spark/spark-operator (written by helm): set crds.takeOver=true, which keeps all objects, before you uninstall that operator: docs/operators/moving-in.md"}},
		"of two owners":              {there: cluster{byRelease, byHand}, want: []string{"the CRD " + kubeflow, "the CRD " + apache + " belongs to another owner (written by kubectl-create, kube-apiserver)"}},
		"without labels":             {there: cluster{plain}, want: []string{"the CRD " + apache + " belongs to another owner"}},
		"that are taken over":        {there: cluster{byRelease}, values: map[string]any{"crds": map[string]any{"takeOver": true}}},
		"that are not installed":     {there: cluster{byRelease}, values: map[string]any{"crds": map[string]any{"install": false}}},
		"of an API that is left out": {there: cluster{byRelease}, values: map[string]any{"apis": []any{"spark.apache.org"}}},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := load(t)
			options := chartutil.ReleaseOptions{Name: "firesteel", Namespace: systemNamespace, IsInstall: true}
			values, err := chartutil.ToRenderValues(loaded, test.values, options, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = engine.RenderWithClientProvider(loaded, values, test.there)
			if (err == nil) != (len(test.want) == 0) {
				t.Fatalf("error is %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error is %v, want %s in it", err, want)
				}
			}
		})
	}
}

// notes renders the notes for users, in a cluster.
func notes(t *testing.T, there cluster) string {
	t.Helper()
	loaded := load(t)
	options := chartutil.ReleaseOptions{Name: "firesteel", Namespace: systemNamespace, IsInstall: true}
	values, err := chartutil.ToRenderValues(loaded, map[string]any{"crds": map[string]any{"takeOver": true}}, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.RenderWithClientProvider(loaded, values, there)
	if err != nil {
		t.Fatal(err)
	}
	return files["firesteel/templates/NOTES.txt"]
}

func webhooks(kind, name, webhook string) *object {
	o := &object{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
	o.SetName(name)
	o.Object["webhooks"] = []any{map[string]any{"name": "a.example.org"}, map[string]any{"name": webhook}}
	return o
}

func TestNotesNameWhatAnotherOperatorHasAndTheNextStep(t *testing.T) {
	const kubeflow = "sparkapplications.sparkoperator.k8s.io"
	inRelease := crd(kubeflow, nil, map[string]string{"meta.helm.sh/release-name": "spark-operator", "meta.helm.sh/release-namespace": "spark"}, "helm")
	ours := crd(kubeflow, map[string]string{"app.kubernetes.io/part-of": "firesteel"}, nil, "firesteel-setup")
	for name, test := range map[string]struct {
		there cluster
		want  string
	}{
		"a webhook that changes": {
			cluster{webhooks("MutatingWebhookConfiguration", "a", "mutate--v1-pod.sparkoperator.k8s.io")}, "kubectl delete mutatingwebhookconfiguration a\n",
		},
		"a webhook that checks": {
			cluster{webhooks("ValidatingWebhookConfiguration", "b", "validate.sparkoperator.k8s.io")}, "kubectl delete validatingwebhookconfiguration b\n",
		},
		"a CRD in another release": {cluster{inRelease}, "helm -n spark upgrade spark-operator ./empty\n"},
		"others":                   {cluster{ours, webhooks("MutatingWebhookConfiguration", "c", "inject.example.org")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			without := notes(t, cluster{})
			got := notes(t, test.there)
			if test.want == "" && got != without || !strings.Contains(got, test.want) {
				t.Errorf("the notes are %s, want %q in them", got, test.want)
			}
			if without == "" {
				t.Error("there are no notes")
			}
		})
	}
}
