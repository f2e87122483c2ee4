package crds_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/crds"
)

var resource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

func TestCRDsOfAPIs(t *testing.T) {
	for apis, want := range map[string]string{
		"spark.apache.org":      "scheduledsparkapplications.firesteel.dev sparkapplications.spark.apache.org sparkclusters.spark.apache.org",
		"sparkoperator.k8s.io":  "scheduledsparkapplications.sparkoperator.k8s.io sparkapplications.sparkoperator.k8s.io",
		"spark-operator.k8s.io": "sparkapplications.spark-operator.k8s.io",
	} {
		found, err := crds.Of(apis)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(found); got != want {
			t.Errorf("%s has the CRDs %s, want %s", apis, got, want)
		}
	}
	all, err := crds.Of(crds.APIs()...)
	if err != nil || len(all) != 6 {
		t.Errorf("all APIs have %d CRDs, want 6: %v", len(all), err)
	}
	const want = `there is no API "spark": write one of spark-operator.k8s.io, spark.apache.org, sparkoperator.k8s.io`
	if _, err := crds.Of("spark.apache.org", "spark"); err == nil || err.Error() != want {
		t.Errorf("an unknown API is answered with %v, want %s", err, want)
	}
}

func names(found []*unstructured.Unstructured) string {
	var all []string
	for _, crd := range found {
		all = append(all, crd.GetName())
	}
	return strings.Join(all, " ")
}

// server returns a client of a fake API server that serves each CRD as soon as it is applied. applied holds the names.
func server(existing ...runtime.Object) (client *dynamicfake.FakeDynamicClient, applied *[]string) {
	client = dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), existing...)
	applied = &[]string{}
	client.PrependReactor("patch", resource.Resource, func(action k8stesting.Action) (bool, runtime.Object, error) {
		patch := action.(k8stesting.PatchAction)
		if patch.GetPatchType() != types.ApplyPatchType {
			return false, nil, nil
		}
		*applied = append(*applied, patch.GetName())
		served := crd(patch.GetName(), "firesteel")
		served.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
		if client.Tracker().Create(resource, served, "") != nil {
			return true, served, client.Tracker().Update(resource, served, "")
		}
		return true, served, nil
	})
	return client, applied
}

func crd(name, partOf string) *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.SetName(name)
	if partOf != "" {
		crd.SetLabels(map[string]string{"app.kubernetes.io/part-of": partOf})
	}
	return crd
}

func TestApplyCreatesAndUpgrades(t *testing.T) {
	all, err := crds.Of(crds.APIs()...)
	if err != nil {
		t.Fatal(err)
	}
	client, applied := server(crd("sparkclusters.spark.apache.org", "firesteel"))
	if _, err := crds.Apply(t.Context(), client, crds.Options{}, all...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*applied, " "); got != names(all) {
		t.Errorf("applied %s, want %s", got, names(all))
	}
}

func TestApplyNamesTheOwnerOfAForeignCRD(t *testing.T) {
	all, err := crds.Of(crds.APIs()...)
	if err != nil {
		t.Fatal(err)
	}
	byHelm := crd("sparkapplications.sparkoperator.k8s.io", "")
	byHelm.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "spark-operator", "meta.helm.sh/release-namespace": "spark"})
	byHand := crd("sparkclusters.spark.apache.org", "another")
	byHand.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl-create"}, {Manager: "helm"}, {Manager: "kube-apiserver", Subresource: "status"},
	})
	unknown := crd("sparkapplications.spark.apache.org", "")
	client, applied := server(byHelm, byHand, unknown)
	_, err = crds.Apply(t.Context(), client, crds.Options{}, all...)
	if err == nil {
		t.Fatal("foreign CRDs are replaced")
	}
	for _, want := range []string{
		"the CRD sparkapplications.sparkoperator.k8s.io belongs to the Helm release spark/spark-operator",
		"the CRD sparkclusters.spark.apache.org belongs to another owner, which wrote it by helm, kubectl-create",
		"the CRD sparkapplications.spark.apache.org belongs to another owner\n",
		"by -take-over of setup or crds.takeOver=true of the chart",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error is %q, want %q in it", err, want)
		}
	}
	if len(*applied) > 0 {
		t.Errorf("applied %v all the same", *applied)
	}

	result, err := crds.Apply(t.Context(), client, crds.Options{TakeOver: true}, all...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(*applied, byHelm.GetName()) || len(*applied) != len(all) {
		t.Errorf("with takeOver, applied %v", *applied)
	}
	if len(result.Releases) != 1 || result.Releases[0] != "spark/spark-operator" {
		t.Errorf("with takeOver, the Helm releases with these CRDs are %v, want spark/spark-operator", result.Releases)
	}
}

// Installations of several versions share the CRDs.
func TestApplyLeavesACRDOfANewerVersion(t *testing.T) {
	all, err := crds.Of(crds.APIs()...)
	if err != nil {
		t.Fatal(err)
	}
	const name = "sparkclusters.spark.apache.org"
	of := func(version string) *unstructured.Unstructured {
		live := crd(name, "firesteel")
		live.SetLabels(map[string]string{"app.kubernetes.io/part-of": "firesteel", crds.LabelVersion: version})
		return live
	}
	for live, stays := range map[string]bool{
		"v1.3.0": true, "v1.2.1-rc.1": true, "v1.2.0": false, "v1.2.0-rc.1": false, "v1.1.9": false, "": false, "(devel)": false,
		"v1.2.9-5-g0123456": false, // between two tags
	} {
		client, applied := server(of(live))
		result, err := crds.Apply(t.Context(), client, crds.Options{Version: "v1.2.0"}, all...)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(*applied, name) == stays {
			t.Errorf("of %q it was applied: %t", live, !stays)
		}
		if stays != slices.Contains(result.Newer, crds.Newer{Name: name, Version: live}) {
			t.Errorf("of %q it reports as newer %v", live, result.Newer)
		}
		if len(*applied) < len(all)-1 {
			t.Errorf("of %q the others are applied: %v", live, *applied)
		}
	}
	client, applied := server(of("v1.3.0"))
	if _, err := crds.Apply(t.Context(), client, crds.Options{Version: "v1.2.0", Downgrade: true}, all...); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(*applied, name) {
		t.Error("it is not taken back, either")
	}
}
