package config_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

// ownStore is a store with the settings of an installation, and the refusals of namespaces' config maps.
type ownStore struct {
	*config.Store
	refusals []string
	version  int
}

func newOwnStore() *ownStore {
	s := &ownStore{}
	s.Store = config.NewStore(zap.NewNop().Sugar(), ignoreChange, func(m *corev1.ConfigMap, err error) {
		s.refusals = append(s.refusals, m.Namespace+"/"+m.Name+": "+err.Error())
	})
	return s
}

// installed reads all config maps of the installation.
func (s *ownStore) installed(defaults, kubeflow *corev1.ConfigMap) *ownStore {
	for _, name := range config.Names() {
		switch name {
		case config.DefaultsName:
			s.OnConfigChanged(named(name, defaults))
		case config.KubeflowName:
			s.OnConfigChanged(named(name, kubeflow))
		default:
			s.OnConfigChanged(named(name, data()))
		}
	}
	return s
}

func (s *ownStore) own(name string, settings *corev1.ConfigMap) bool {
	s.version++
	return s.SetOwnDefaults(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, ResourceVersion: fmt.Sprint(s.version)}, Data: settings.Data,
	})
}

func TestOwnDefaultsStandBetweenTheInstallationAndTheApplication(t *testing.T) {
	s := newOwnStore().installed(data(
		"image", "ours", "spark-defaults.conf", "spark.a 1\nspark.b 1",
		"applicationTolerations", "restartConfig: {restartPolicy: Always, maxRestartAttempts: 7}\nresourceRetainPolicy: Always",
	), data("batch-schedulers", "volcano", "default-time-to-live", "1h", "spark-defaults.conf", "spark.k 1"))
	s.own(config.OwnDefaultsName, data(
		"image", "theirs", "spark-defaults.conf", "spark.b 2",
		"applicationTolerations", "restartConfig: {maxRestartAttempts: 2}\nresourceRetentionPolicy: Never",
	))
	s.own(config.OwnKubeflowName, data("default-batch-scheduler", "volcano", "ui-service", "disabled", "driver-start-timeout", "5m"))
	own, others := s.Load().In("team-a"), s.Load().In("team-b")
	if len(s.refusals) > 0 {
		t.Fatalf("refused: %v", s.refusals)
	}
	d, k := own.Defaults, own.Kubeflow
	if restart := d.Tolerations.RestartConfig; d.Image != "theirs" || d.Properties["spark.a"] != "1" || d.Properties["spark.b"] != "2" ||
		restart.RestartPolicy != "Always" || *restart.MaxRestartAttempts != 2 || d.Tolerations.ResourceRetainPolicy != "Never" {
		t.Errorf("the defaults are %+v", d)
	}
	if k.DefaultBatchScheduler != "volcano" || k.UIService || k.DriverStartTimeout != 5*time.Minute || k.TimeToLive != time.Hour ||
		k.Properties["spark.k"] != "1" {
		t.Errorf("the settings are %+v", k)
	}
	if base := others.Defaults; base.Image != "ours" || base.Properties["spark.b"] != "1" || *base.Tolerations.RestartConfig.MaxRestartAttempts != 7 ||
		!others.Kubeflow.UIService {
		t.Errorf("the settings of another namespace are %+v", base)
	}
	s.DropOwnDefaults("team-a", config.OwnDefaultsName)
	if now := s.Load().In("team-a"); now.Defaults.Image != "ours" || now.Kubeflow.UIService {
		t.Errorf("after one of them is deleted: %+v", now.Defaults)
	}
	s.DropOwnDefaults("team-a", config.OwnKubeflowName)
	if s.Load().In("team-a") != s.Load() {
		t.Error("after both are deleted, the namespace still has settings of its own")
	}
}

func TestOwnDefaultsHoldForApplicationsOfTheEarlyAPI(t *testing.T) {
	s := newOwnStore().installed(data(), data("default-time-to-live", "1h", "spark-defaults.conf", "spark.k 1"))
	s.OnConfigChanged(named(config.EarlyName, data("spark-version", "3.5.7", "ui-service-type", "ClusterIP")))
	s.own(config.OwnKubeflowName, data("driver-start-timeout", "5m", "spark-defaults.conf", "spark.k 2"))
	own, others := s.Load().In("team-a").OfEarly(), s.Load().In("team-b").OfEarly()
	if len(s.refusals) > 0 {
		t.Fatalf("refused: %v", s.refusals)
	}
	if own.DriverStartTimeout != 5*time.Minute || own.Properties["spark.k"] != "2" || own.TimeToLive != time.Hour ||
		own.SparkVersion != "3.5.7" || own.UIServiceType != corev1.ServiceTypeClusterIP {
		t.Errorf("the settings are %+v", own)
	}
	if others.DriverStartTimeout == 5*time.Minute || others.Properties["spark.k"] != "1" || others.SparkVersion != "3.5.7" {
		t.Errorf("the settings of another namespace are %+v", others)
	}
}

func TestOwnDefaultsFollowTheInstallation(t *testing.T) {
	s := newOwnStore()
	if s.own(config.OwnDefaultsName, data("image", "theirs")) {
		t.Error("it has an effect before the settings of the installation are known")
	}
	s.installed(data("driver-service-account", "spark"), data())
	if own := s.Load().In("team-a").Defaults; own.Image != "theirs" || own.DriverServiceAccount != "spark" {
		t.Errorf("the defaults are %+v", own)
	}
	before := s.Load()
	s.OnConfigChanged(named(config.DefaultsName, data("driver-service-account", "etl")))
	if own := s.Load().In("team-a").Defaults; own.Image != "theirs" || own.DriverServiceAccount != "etl" {
		t.Errorf("after a change of the installation they are %+v", own)
	}
	if own := before.In("team-a").Defaults; own.DriverServiceAccount != "spark" {
		t.Errorf("the settings before the change became %+v", own)
	}
}

func TestOwnDefaultsThatAreInvalidLeaveTheValueBefore(t *testing.T) {
	for name, test := range map[string]struct {
		configMap, key, value, want string
	}{
		"a key that gives rights": {
			config.OwnDefaultsName, "driver-service-account", "admin",
			`firesteel-defaults: driver-service-account is "admin": remove it, since only config-defaults may set it`,
		},
		"templates that are read with the controller's credentials": {
			config.OwnKubeflowName, "pod-template-urls", "s3://a/",
			`firesteel-kubeflow: pod-template-urls is "s3://a/": remove it, since only config-kubeflow may set it`,
		},
		"a denied property": {
			config.OwnKubeflowName, "spark-defaults.conf", "spark.kubernetes.authenticate.driver.serviceAccountName admin",
			`firesteel-kubeflow: spark-defaults.conf: spark.kubernetes.authenticate.driver.serviceAccountName is "admin": ` +
				`remove it, since denied-spark-properties of config-kubeflow has it`,
		},
		"a denied property of the other API": {
			config.OwnDefaultsName, "spark-defaults.conf", "spark.master local",
			`firesteel-defaults: spark-defaults.conf: spark.master is "local": remove it, since denied-spark-properties of config-kubeflow has it`,
		},
		"a scheduler that the installation has not": {
			config.OwnKubeflowName, "default-batch-scheduler", "volcano",
			`firesteel-kubeflow: default-batch-scheduler is "volcano": write it into batch-schedulers of config-kubeflow, too`,
		},
		"a key that there is not": {
			config.OwnDefaultsName, "color", "blue", `firesteel-defaults: there is no key "color": write one of active-deadline, applicationTolerations, ` +
				`driver-config-maps, driver-service, image, pod-security, pod-security-user, spark-defaults.conf`,
		},
		"too much": {config.OwnDefaultsName, "image", strings.Repeat("a", 70000), "firesteel-defaults: it has more than 65536 bytes: write fewer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOwnStore().installed(data(), data())
			s.own(test.configMap, data("active-deadline", "3h"))
			s.own(test.configMap, data("active-deadline", "4h", test.key, test.value))
			if len(s.refusals) != 1 || s.refusals[0] != "team-a/"+test.configMap+": "+test.want {
				t.Errorf("refused: %q\nwant %q", s.refusals, test.want)
			}
			own := s.Load().In("team-a")
			if got := max(own.Defaults.ActiveDeadline, own.Kubeflow.ActiveDeadline); got != 3*time.Hour {
				t.Errorf("the deadline is %s, want that of before", got)
			}
			s.OnConfigChanged(named(config.EventsName, data())) // evaluates all again
			if len(s.refusals) != 1 {
				t.Errorf("it is reported again: %q", s.refusals)
			}
			s.own(test.configMap, data("active-deadline", "5h"))
			own = s.Load().In("team-a")
			if got := max(own.Defaults.ActiveDeadline, own.Kubeflow.ActiveDeadline); got != 5*time.Hour {
				t.Errorf("after the correction the deadline is %s", got)
			}
		})
	}
}

// The installation may deny what a namespace has, and allow it again.
func TestOwnDefaultsThatTheInstallationDeniesLaterHaveNoEffect(t *testing.T) {
	s := newOwnStore().installed(data(), data("batch-schedulers", "volcano"))
	s.own(config.OwnKubeflowName, data("default-batch-scheduler", "volcano"))
	s.OnConfigChanged(named(config.KubeflowName, data()))
	if own := s.Load().In("team-a"); own.Kubeflow.DefaultBatchScheduler != "" || len(s.refusals) != 1 {
		t.Errorf("the scheduler is %q; refused: %q", own.Kubeflow.DefaultBatchScheduler, s.refusals)
	}
	s.OnConfigChanged(named(config.KubeflowName, data("batch-schedulers", "volcano")))
	if own := s.Load().In("team-a"); own.Kubeflow.DefaultBatchScheduler != "volcano" {
		t.Errorf("when it is allowed again, the scheduler is %q", own.Kubeflow.DefaultBatchScheduler)
	}
}

func TestPagesNameTheKeysOfNamespaces(t *testing.T) {
	page, err := os.ReadFile("../../docs/operators/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{config.OwnDefaultsName, config.OwnKubeflowName} {
		s := newOwnStore().installed(data(), data())
		s.own(name, data("no-key", ""))
		_, keys, _ := strings.Cut(s.refusals[0], "write one of ")
		row := regexp.MustCompile("(?m)^\\| `" + name + "` \\|.*$").FindString(string(page))
		for key := range strings.SplitSeq(keys, ", ") {
			if !strings.Contains(row, "`"+key+"`") {
				t.Errorf("docs/operators/configuration.md does not name %s of %s: %s", key, name, row)
			}
		}
	}
}

func TestStoreReadsOwnDefaultsByNameAndLabelOnly(t *testing.T) {
	client := fake.NewSimpleDynamicClient(scheme.Scheme)
	s := newOwnStore().installed(data(), data())
	changed := make(chan string, 1)
	if err := s.FollowNamespaces(t.Context(), config.DynamicConfigMaps(client, ""), func(namespace string) { changed <- namespace }); err != nil {
		t.Fatal(err)
	}
	for _, action := range client.Actions() {
		var restrictions clienttesting.ListRestrictions
		switch action := action.(type) {
		case clienttesting.ListAction:
			restrictions = action.GetListRestrictions()
		case clienttesting.WatchAction:
			r := action.GetWatchRestrictions()
			restrictions = clienttesting.ListRestrictions{Labels: r.Labels, Fields: r.Fields}
		}
		name, exact := restrictions.Fields.RequiresExactMatch("metadata.name")
		if !exact || name != config.OwnDefaultsName && name != config.OwnKubeflowName || restrictions.Labels.String() != "firesteel.dev/defaults=enabled" {
			t.Errorf("it sends %s of config maps with the fields %s and the labels %s", action.GetVerb(), restrictions.Fields, restrictions.Labels)
		}
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "team-a", "name": config.OwnDefaultsName},
		"data": map[string]any{"image": "theirs"},
	}}
	configMaps := client.Resource(configMaps).Namespace("team-a")
	if _, err := configMaps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if namespace := <-changed; namespace != "team-a" || s.Load().In("team-a").Defaults.Image != "theirs" {
		t.Errorf("%s changed: %+v", namespace, s.Load().In("team-a").Defaults)
	}
}

// Who takes the right from the controller does without these defaults, and with everything else.
func TestStoreGoesOnWithoutTheRightToReadOwnDefaults(t *testing.T) {
	client := fake.NewSimpleDynamicClient(scheme.Scheme)
	refuse := func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(configMaps.GroupResource(), "", nil)
	}
	client.PrependReactor("list", "configmaps", refuse)
	client.PrependWatchReactor("configmaps", func(action clienttesting.Action) (bool, watch.Interface, error) {
		_, _, err := refuse(action)
		return true, nil, err
	})
	store := config.NewStore(logtesting.TestLogger(t), ignoreChange, func(*corev1.ConfigMap, error) {})
	if err := store.FollowNamespaces(t.Context(), config.DynamicConfigMaps(client, ""), func(string) {}); err != nil {
		t.Fatal(err)
	}
}
