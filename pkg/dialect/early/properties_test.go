package early_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
)

func TestPropertiesOf2017AreTranslatedOrNamed(t *testing.T) {
	const image = "spark:3.5.7"
	for name, test := range map[string]struct {
		given map[string]string
		// want are properties that the plan has, empty for those that it does not have.
		want map[string]string
		// told are parts of one warning; nil for none.
		told []string
	}{
		"images": {
			given: map[string]string{"spark.kubernetes.driver.docker.image": image, "spark.kubernetes.executor.docker.image": image},
			want: map[string]string{"spark.kubernetes.driver.container.image": image, "spark.kubernetes.executor.container.image": image,
				"spark.kubernetes.driver.docker.image": ""},
		},
		"pull policy": {
			given: map[string]string{"spark.kubernetes.docker.image.pullPolicy": "Always"},
			want:  map[string]string{"spark.kubernetes.container.image.pullPolicy": "Always", "spark.kubernetes.docker.image.pullPolicy": ""},
		},
		"overhead": {
			given: map[string]string{"spark.kubernetes.driver.memoryOverhead": "500", "spark.kubernetes.executor.memoryOverhead": "600"},
			want:  map[string]string{"spark.driver.memoryOverhead": "500", "spark.executor.memoryOverhead": "600"},
		},
		"overhead beside today's": {
			given: map[string]string{"spark.kubernetes.driver.memoryOverhead": "500", "spark.driver.memoryOverhead": "700"},
			want:  map[string]string{"spark.driver.memoryOverhead": "700", "spark.kubernetes.driver.memoryOverhead": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.driver.memoryOverhead]", "spark.driver.memoryOverhead"},
		},
		"lists of labels": {
			given: map[string]string{"spark.kubernetes.driver.labels": "a=1, b=2", "spark.kubernetes.executor.labels": "c=3"},
			want: map[string]string{"spark.kubernetes.driver.label.a": "1", "spark.kubernetes.driver.label.b": "2", "spark.kubernetes.executor.label.c": "3",
				"spark.kubernetes.driver.labels": ""},
		},
		"annotations in three spellings": {
			given: map[string]string{"spark.kubernetes.driver.annotations": "a=1,b=x=y", "spark.kubernetes.driver.annotations.c": "3",
				"spark.kubernetes.driver.annotation.d": "4"},
			want: map[string]string{"spark.kubernetes.driver.annotation.a": "1", "spark.kubernetes.driver.annotation.b": "x=y",
				"spark.kubernetes.driver.annotation.c": "3", "spark.kubernetes.driver.annotation.d": "4",
				"spark.kubernetes.executor.annotation.a": "", "spark.kubernetes.driver.annotations": "", "spark.kubernetes.driver.annotations.c": ""},
		},
		"a list with an entry that is none": {
			given: map[string]string{"spark.kubernetes.executor.annotations": "a=1,b"},
			want:  map[string]string{"spark.kubernetes.executor.annotation.a": "1"},
			told:  []string{"spec.sparkConf[spark.kubernetes.executor.annotations]", `"b"`, "key=value"},
		},
		"batch delay in seconds": {
			given: map[string]string{"spark.kubernetes.allocation.batch.delay": "1"},
			want:  map[string]string{"spark.kubernetes.allocation.batch.delay": "1s"},
			told:  []string{"spec.sparkConf[spark.kubernetes.allocation.batch.delay]", `"1"`, "write the unit"},
		},
		"batch delay with a unit": {
			given: map[string]string{"spark.kubernetes.allocation.batch.delay": "200ms"},
			want:  map[string]string{"spark.kubernetes.allocation.batch.delay": "200ms"},
		},
		"init container of the fork": {
			given: map[string]string{"spark.kubernetes.initcontainer.docker.image": image},
			want:  map[string]string{"spark.kubernetes.initcontainer.docker.image": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.initcontainer.docker.image]", "has no effect"},
		},
		"init container of 2.3": {
			given: map[string]string{"spark.kubernetes.initContainer.image": image},
			want:  map[string]string{"spark.kubernetes.initContainer.image": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.initContainer.image]", "has no effect"},
		},
		"folders of downloads": {
			given: map[string]string{"spark.kubernetes.mountDependencies.filesDownloadDir": "/a"},
			want:  map[string]string{"spark.kubernetes.mountDependencies.filesDownloadDir": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.mountDependencies.filesDownloadDir]", "SparkFiles.get"},
		},
		"folders of downloads of the fork": {
			given: map[string]string{"spark.kubernetes.mountdependencies.mountTimeout": "5"},
			want:  map[string]string{"spark.kubernetes.mountdependencies.mountTimeout": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.mountdependencies.mountTimeout]", "SparkFiles.get"},
		},
		"staging server": {
			given: map[string]string{"spark.kubernetes.resourceStagingServer.uri": "http://a"},
			want:  map[string]string{"spark.kubernetes.resourceStagingServer.uri": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.resourceStagingServer.uri]", "put files where the driver can fetch them"},
		},
		"TLS of the staging server": {
			given: map[string]string{"spark.ssl.kubernetes.resourceStagingServer.enabled": "true"},
			want:  map[string]string{"spark.ssl.kubernetes.resourceStagingServer.enabled": ""},
			told:  []string{"spec.sparkConf[spark.ssl.kubernetes.resourceStagingServer.enabled]", "put files where the driver can fetch them"},
		},
		"shuffle service of the fork": {
			given: map[string]string{"spark.shuffle.service.enabled": "true", "spark.kubernetes.shuffle.namespace": "default"},
			want: map[string]string{"spark.shuffle.service.enabled": "", "spark.kubernetes.shuffle.namespace": "",
				"spark.dynamicAllocation.shuffleTracking.enabled": "true"},
			told: []string{"spec.sparkConf[spark.shuffle.service.enabled]", "shuffleTracking"},
		},
		"namespace of a shuffle service that is off": {
			given: map[string]string{"spark.kubernetes.shuffle.namespace": "default"},
			want:  map[string]string{"spark.kubernetes.shuffle.namespace": "", "spark.dynamicAllocation.shuffleTracking.enabled": ""},
			told:  []string{"has no external shuffle service: leave it out."},
		},
		"labels that are not the user's": {
			given: map[string]string{"spark.kubernetes.driver.labels": "sparkoperator.k8s.io/team=a", "spark.kubernetes.driver.label." + early.LabelAppID: "x"},
			told:  []string{"spec.sparkConf[spark.kubernetes.driver.label." + early.LabelAppID + "]", "has no effect"},
		},
		"cores beside the field": {
			given: map[string]string{"spark.driver.cores": "0.5"},
			want:  map[string]string{"spark.driver.cores": "2"},
			told:  []string{"spec.sparkConf[spark.driver.cores]", "has no effect", "spec.driver.cores says"},
		},
		"another shuffle service": {
			given: map[string]string{"spark.shuffle.service.enabled": "true"},
			want:  map[string]string{"spark.shuffle.service.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": ""},
		},
		"Kerberos of the fork": {
			given: map[string]string{"spark.kubernetes.kerberos.principal": "me"},
			want:  map[string]string{"spark.kubernetes.kerberos.principal": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.kerberos.principal]", "spark.kerberos.principal"},
		},
		"locality of HDFS": {
			given: map[string]string{"spark.kubernetes.driver.hdfslocality.clusterNodeNameDNSLookup.enabled": "true"},
			want:  map[string]string{"spark.kubernetes.driver.hdfslocality.clusterNodeNameDNSLookup.enabled": ""},
			told:  []string{"hdfslocality", "has no effect"},
		},
		"credentials of the client": {
			given: map[string]string{"spark.kubernetes.authenticate.submission.caCertFile": "/ca"},
			want:  map[string]string{"spark.kubernetes.authenticate.submission.caCertFile": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.authenticate.submission.caCertFile]", "has no effect"},
		},
		"waits of the client": {
			given: map[string]string{"spark.kubernetes.submission.waitAppCompletion": "true"},
			want:  map[string]string{"spark.kubernetes.submission.waitAppCompletion": "false"},
			told:  []string{"spec.sparkConf[spark.kubernetes.submission.waitAppCompletion]", "has no effect"},
		},
		"reports of the client": {
			given: map[string]string{"spark.kubernetes.report.interval": "5s", "spark.kubernetes.context": "mine"},
			want:  map[string]string{"spark.kubernetes.report.interval": "", "spark.kubernetes.context": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.report.interval]", "has no effect"},
		},
		"context of the client": {
			given: map[string]string{"spark.kubernetes.context": "mine"},
			want:  map[string]string{"spark.kubernetes.context": ""},
			told:  []string{"spec.sparkConf[spark.kubernetes.context]", "has no effect"},
		},
		"service account": {
			given: map[string]string{"spark.kubernetes.authenticate.driver.serviceAccountName": "spark"},
			want:  map[string]string{"spark.kubernetes.authenticate.driver.serviceAccountName": "spark"},
		},
		"today's": {
			given: map[string]string{"spark.kubernetes.executor.deleteOnTermination": "false", "spark.eventLog.enabled": "true"},
			want:  map[string]string{"spark.kubernetes.executor.deleteOnTermination": "false", "spark.eventLog.enabled": "true"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := application(t, `{driver: {image: "`+image+`"}, executor: {image: "`+image+`"}}`)
			if strings.HasPrefix(name, "images") {
				app.Spec.Driver.Image, app.Spec.Executor.Image = "", ""
			}
			if strings.HasPrefix(name, "cores") {
				app.Spec.Driver.Cores = ptr.To[v1alpha1.Cores]("2")
			}
			app.Spec.SparkConf = maps.Clone(test.given)
			s := early.NewSettings()
			if refused := early.Policy(app, s).Refused; refused != nil {
				t.Fatalf("refused: %s", refused.Message)
			}
			properties := planned(t, app, s).Properties
			for key, want := range test.want {
				if got, set := properties[key]; got != want || set != (want != "") {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			sentences := early.Warnings(app, s).Sentences()
			switch {
			case test.told == nil && len(sentences) > 0:
				t.Errorf("warnings are %q", sentences)
			case test.told != nil:
				wantSentence(t, sentences, test.told...)
			}
			if diff := cmp.Diff(test.given, app.Spec.SparkConf); diff != "" {
				t.Errorf("the user's spec was changed (-given +now):\n%s", diff)
			}
		})
	}
}

func TestEachPropertyWithoutEffectIsNamed(t *testing.T) {
	app := application(t, `{sparkConf: {spark.kubernetes.mountDependencies.filesDownloadDir: /a, spark.kubernetes.initContainer.image: "spark:2.3"}}`)
	s := early.NewSettings()
	sentences := early.Warnings(app, s).Sentences()
	wantSentence(t, sentences, "spec.sparkConf[spark.kubernetes.mountDependencies.filesDownloadDir]", "SparkFiles.get")
	wantSentence(t, sentences, "spec.sparkConf[spark.kubernetes.initContainer.image]", "has no effect")
	if refused := early.Policy(app, s).Refused; refused != nil || len(sentences) != 2 {
		t.Errorf("warnings are %q, and it is refused by %+v", sentences, refused)
	}
}

func TestFilesOfTheUsersMachineAreRefusedWithAStagingServer(t *testing.T) {
	const server = `sparkConf: {spark.kubernetes.resourceStagingServer.uri: "http://a"}`
	for spec, field := range map[string]string{
		`{mainApplicationFile: /home/me/app.jar, ` + server + `}`:                                                            "spec.mainApplicationFile",
		`{mainApplicationFile: "file:///home/me/app.jar", ` + server + `}`:                                                   "spec.mainApplicationFile",
		`{deps: {jarFiles: ["local:///a.jar", lib.jar]}, ` + server + `}`:                                                    "spec.deps.jarFiles[1]",
		`{deps: {files: ["https://example.com/a", "a"]}, ` + server + `}`:                                                    "spec.deps.files[1]",
		`{deps: {pyFiles: ["/home/me/a:1.py"]}, ` + server + `}`:                                                             "spec.deps.pyFiles[0]",
		`{sparkConf: {spark.jars: "local:///a.jar,/home/me/b.jar", spark.kubernetes.resourceStagingServer.uri: "http://a"}}`: "spec.sparkConf[spark.jars]",
		`{mainApplicationFile: "s3a://bucket/app.jar", ` + server + `}`:                                                      "",
		`{mainApplicationFile: "local:///app.jar", ` + server + `}`:                                                          "",
	} {
		refused := early.Policy(application(t, spec), early.NewSettings()).Refused
		if field == "" && refused != nil {
			t.Errorf("%s: refused by %s", spec, refused.Message)
		}
		if field != "" && (refused == nil || refused.Reason != "LocalFile" || !strings.Contains(refused.Message, field) || !strings.Contains(refused.Message, "put it where the driver can fetch it")) {
			t.Errorf("%s: refused by %+v", spec, refused)
		}
	}
}

// What users write is translated in linear time, and messages are bounded.
func TestManyPropertiesAreTranslatedAndFewAreNamed(t *testing.T) {
	const many = 20_000
	app := application(t, `{}`)
	app.Spec.SparkConf = map[string]string{}
	var list []string
	for i := range many {
		app.Spec.SparkConf[fmt.Sprintf("spark.kubernetes.initcontainer.x%d", i)] = "x"
		app.Spec.Deps.Jars = append(app.Spec.Deps.Jars, fmt.Sprintf("local:///a%d_2.10.jar", i))
		list = append(list, fmt.Sprintf("a%d=%d", i, i))
	}
	app.Spec.SparkConf["spark.kubernetes.driver.annotations"] = strings.Join(list, ",")
	s := early.NewSettings()
	if found := early.Warnings(app, s); len(found) > 200 {
		t.Errorf("%d warnings", len(found))
	}
	annotations := 0
	for key := range planned(t, app, s).Properties {
		if strings.HasPrefix(key, "spark.kubernetes.driver.annotation.") {
			annotations++
		}
	}
	if annotations != many {
		t.Errorf("%d annotations", annotations)
	}
}
