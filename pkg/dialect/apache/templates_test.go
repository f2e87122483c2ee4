package apache_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	driverTemplateKey   = "spark.kubernetes.driver.podTemplateFile"
	executorTemplateKey = "spark.kubernetes.executor.podTemplateFile"
)

func TestTemplatesInFiles(t *testing.T) {
	inDriver := `spec.sparkConf[` + driverTemplateKey + `] "driver.yaml" is a file, which Firesteel does not read: ` +
		`write the template into spec.driverSpec.podTemplateSpec`
	inExecutor := `spec.sparkConf[` + executorTemplateKey + `] "executor.yaml" is a file, which Firesteel does not read: ` +
		`write the template into spec.executorSpec.podTemplateSpec`
	inFiles := func() *application {
		return pi().Conf(driverTemplateKey, "driver.yaml").Conf(executorTemplateKey, "executor.yaml")
	}
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"both are refused, always in the same order":   {inFiles(), inDriver + "\n" + inExecutor},
		"a driver's in the spec wins":                  {inFiles().Driver(&corev1.PodTemplateSpec{}), inExecutor},
		"an executor's in the spec wins":               {inFiles().Executor(&corev1.PodTemplateSpec{}), inDriver},
		"both in the spec win":                         {inFiles().Driver(&corev1.PodTemplateSpec{}).Executor(&corev1.PodTemplateSpec{}), ""},
		"a section without template stands for none":   {inFiles().Driver(nil).Executor(&corev1.PodTemplateSpec{}), inDriver},
		"a file by its URL is a file all the same":     {pi().Conf(driverTemplateKey, "FILE:///d"), strings.Replace(inDriver, "driver.yaml", "FILE:///d", 1)},
		"and so is one in the image":                   {pi().Conf(driverTemplateKey, "local:///d"), strings.Replace(inDriver, "driver.yaml", "local:///d", 1)},
		"no file and no template is nothing to refuse": {pi(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := apache.Plan(test.app.Obj(), v1alpha1.Attempt{}, apache.Defaults{})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				for key := range got.Properties {
					if strings.HasSuffix(key, "podTemplateFile") {
						t.Errorf("%s is still set", key)
					}
				}
				return
			}
			var refused *finding.Finding
			if !errors.As(err, &refused) || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestRemoteTemplates(t *testing.T) {
	const ofDriver, ofExecutor = "s3://bucket/driver.yaml", "https://example.com/executor.yaml"
	named := func() *application {
		return pi().Conf(driverTemplateKey, ofDriver).Conf(executorTemplateKey, ofExecutor)
	}
	for name, test := range map[string]struct {
		app  *application
		want []string
	}{
		"none where none is named":           {pi(), nil},
		"the driver's before the executors'": {named(), []string{ofDriver, ofExecutor}},
		"none where the spec has its own":    {named().Driver(&corev1.PodTemplateSpec{}).Executor(&corev1.PodTemplateSpec{}), nil},
		"the one that the spec has not":      {named().Driver(&corev1.PodTemplateSpec{}), []string{ofExecutor}},
		"even if it cannot be parsed":        {pi().Conf(driverTemplateKey, "https://[::1/%zz"), []string{"https://[::1/%zz"}},
		"even by schemes that are not read":  {pi().Conf(driverTemplateKey, "HDFS://host/t"), []string{"HDFS://host/t"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, remote := range dialect.RemoteTemplates(plan(t, test.app), apache.API.Fields) {
				got = append(got, remote.URL)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("remote templates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRemoteTemplateReplacesOneInTheSpec(t *testing.T) {
	template := func(name string) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	got := plan(t, pi().Conf(driverTemplateKey, "s3://b/driver").Conf(executorTemplateKey, "s3://b/executor"))
	for i, remote := range dialect.RemoteTemplates(got, apache.API.Fields) {
		remote.ApplyTo(&got, template([]string{"driver", "executor"}[i]))
	}
	want := plan(t, pi().Driver(template("driver")).Executor(template("executor")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestARemoteTemplateThatIsRefusedIsNamed(t *testing.T) {
	app := pi().Conf(executorTemplateKey, "s3://b/t")
	remote := dialect.RemoteTemplates(plan(t, app), apache.API.Fields)[0]
	want := `spec.sparkConf[spark.kubernetes.executor.podTemplateFile] "s3://b/t" is not there: put it there, ` +
		`or write the template into spec.executorSpec.podTemplateSpec`
	if got := apache.Refusals(remote.Refuse("is not there", "put it there"), app.Obj(), apache.Defaults{}).String(); got != want {
		t.Errorf("refused with\n%s\nwant\n%s", got, want)
	}
}

func TestATemplatesVolumeWhoseSourceIsMisspeltIsRefused(t *testing.T) {
	app := pi().Driver(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "scratch"}, {Name: "data"}}}}).Obj()
	if _, err := apache.Plan(app, v1alpha1.Attempt{}, apache.Defaults{}); err != nil {
		t.Errorf("a volume without a source is refused: %v", err)
	}
	app.UnknownFields = []string{`unknown field "spec.driverSpec.podTemplateSpec.spec.volumes[1].pvc"`}
	_, err := apache.Plan(app, v1alpha1.Attempt{}, apache.Defaults{})
	const want = `spec.driverSpec.podTemplateSpec.spec.volumes[1] "data" has no source that is known and would be an empty directory: ` +
		`correct the spelling of the unknown field "spec.driverSpec.podTemplateSpec.spec.volumes[1].pvc"`
	if err == nil || apache.Refusals(err, app, apache.Defaults{}).String() != want {
		t.Errorf("refused with\n%v\nwant\n%s", err, want)
	}
}
