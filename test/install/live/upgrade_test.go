package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/pkg/uninstall"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// ofVersion returns the chart as the release of a version has it: with its version and the digest of its controller in the values.
func ofVersion(t *testing.T, version, digest string) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	loaded.Metadata.Version, loaded.Metadata.AppVersion, loaded.Values["chartVersion"] = version, "v"+version, version
	image := loaded.Values["image"].(map[string]any)
	image["repository"], image["digest"] = "controller", digest
	return loaded
}

// runsHooks does what a node would do: it runs the Jobs of hooks, each with the rights of its service account, until the test ends.
func (s server) runsHooks() {
	s.Helper()
	admin, err := kubernetes.NewForConfig(s.plane.Admin())
	if err != nil {
		s.Fatal(err)
	}
	jobs := admin.BatchV1().Jobs(namespace)
	created, err := jobs.Watch(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(created.Stop)
	go func() {
		for event := range created.ResultChan() {
			job, isJob := event.Object.(*batchv1.Job)
			if !isJob || job.Status.CompletionTime != nil || job.DeletionTimestamp != nil {
				continue
			}
			complete := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
			if err := s.runHook(job); err != nil {
				s.Errorf("the hook %s: %v", job.Name, err)
				complete = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
			}
			now := metav1.NewTime(time.Now())
			job.Status.StartTime = &now
			if complete[1] == batchv1.JobComplete {
				job.Status.CompletionTime = &now
			}
			for _, condition := range complete {
				job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
			}
			if _, err := jobs.UpdateStatus(s.Context(), job, metav1.UpdateOptions{}); err != nil && s.Context().Err() == nil {
				s.Errorf("the hook %s: %v", job.Name, err)
			}
		}
	}()
}

// runHook does what cmd/setup does with the arguments of a Job.
func (s server) runHook(job *batchv1.Job) error {
	pod := job.Spec.Template.Spec
	cluster := rest.CopyConfig(s.plane.Admin())
	cluster.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + pod.ServiceAccountName}
	args := pod.Containers[0].Args
	switch args[0] {
	case "crds":
		_, err := s.applyCRDs(cluster, crds.Options{Version: job.Labels["app.kubernetes.io/version"]}, args[1:]...)
		return err
	case "release-finalizers":
		return s.releaseFinalizers(cluster)
	}
	return fmt.Errorf("unknown arguments %v", args)
}

// applyCRDs applies the CRDs of APIs, as the hook of the chart does.
func (s server) applyCRDs(cluster *rest.Config, options crds.Options, apis ...string) (crds.Result, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return crds.Result{}, err
	}
	wanted, err := crds.Of(apis...)
	if err != nil {
		return crds.Result{}, err
	}
	return crds.Apply(s.Context(), client, options, wanted...)
}

func (s server) releaseFinalizers(cluster *rest.Config) error {
	kube, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(cluster)
	if err != nil {
		return err
	}
	installation := &uninstall.Installation{Kube: kube, Metadata: objects, Namespace: namespace, Logf: s.Logf}
	if managed, err := installation.RunsHooks(s.Context()); err != nil || !managed {
		return fmt.Errorf("the release is Helm's, and its hook runs: %t, %w", managed, err)
	}
	if err := installation.Stop(s.Context()); err != nil {
		return err
	}
	return installation.ReleaseFinalizers(s.Context())
}

func TestChartIsInstalledUpgradedAndUninstalled(t *testing.T) {
	s := start(t)
	s.runsHooks()
	first, second := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	want := func(version, image string) {
		t.Helper()
		got := s.kubectl("", "get", "deployment", "controller", "-o", "jsonpath={.spec.template.spec.containers[0].image} {.metadata.labels.team}")
		if got != "controller@"+image+" data" {
			t.Errorf("with %s, the image and the label are %s", version, got)
		}
		versions := s.kubectl("", "get", "crd", "-l", "app.kubernetes.io/version=v"+version, "-o", "name")
		if strings.Count(versions, "\n") != 5 {
			t.Errorf("of %s are the CRDs %s", version, versions)
		}
	}
	install := action.NewInstall(s.helm)
	install.ReleaseName, install.Namespace, install.Timeout = "firesteel", namespace, time.Minute
	if _, err := install.Run(ofVersion(t, "1.2.2", first), map[string]any{"commonLabels": map[string]any{"team": "data"}}); err != nil {
		t.Fatal(err)
	}
	want("1.2.2", first)
	s.kubectl(strings.Replace(application, "name: pi", "name: pi, finalizers: [firesteel.dev/finalizer]", 1), "create", "-f", "-")

	upgrade := action.NewUpgrade(s.helm)
	upgrade.Namespace, upgrade.Timeout, upgrade.ReuseValues = namespace, time.Minute, true
	if _, err := upgrade.Run("firesteel", ofVersion(t, "1.2.3", second), nil); err == nil ||
		!strings.Contains(err.Error(), "chartVersion is 1.2.2, and the chart is 1.2.3") || !strings.Contains(err.Error(), "write --reset-then-reuse-values") {
		t.Errorf("--reuse-values is answered with %v", err)
	}
	want("1.2.2", first)
	upgrade.ReuseValues, upgrade.ResetThenReuseValues = false, true
	if _, err := upgrade.Run("firesteel", ofVersion(t, "1.2.3", second), nil); err != nil {
		t.Fatal(err)
	}
	want("1.2.3", second)

	remove := action.NewUninstall(s.helm)
	remove.Timeout = time.Minute
	if _, err := remove.Run("firesteel"); err != nil {
		t.Fatal(err)
	}
	if left := s.kubectl("", "get", "deployments", "-o", "name"); left != "" {
		t.Errorf("the uninstallation left %s", left)
	}
	if finalizers := s.kubectl("", "get", crdName, "pi", "-o", "jsonpath={.metadata.finalizers}"); finalizers != "" {
		t.Errorf("the application has the finalizers %s", finalizers)
	}
}
