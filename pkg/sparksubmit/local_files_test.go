package sparksubmit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilesOfTheMachineAreThoseThatSparkSubmitUploads(t *testing.T) {
	properties := sources(map[string]string{"more": "spark.archives=env.zip#env, s3a://b/c.zip\n"}, nil)
	s, _ := submitted(t, properties, "--class", "B", "--properties-file", "more", "--jars", "lib/*.jar, local:///opt/a.jar,file:/home/me/my%20lib.jar",
		"--conf", "spark.files=a.conf", "--py-files", "https://h/a.py", "/home/me/pi.jar")
	want := []LocalFile{
		{Field: "the application file", Written: "/home/me/pi.jar", Path: "/home/me/pi.jar"},
		{Field: "--jars", Written: "lib/*.jar", Path: "lib/*.jar", Pattern: true},
		{Field: "--jars", Written: "file:/home/me/my%20lib.jar", Path: "/home/me/my lib.jar", Pattern: true},
		{Field: "--conf spark.files", Written: "a.conf", Path: "a.conf", Pattern: true},
		{Field: "more spark.archives", Written: "env.zip#env", Path: "env.zip", Pattern: true},
	}
	if diff := cmp.Diff(want, s.LocalFiles()); diff != "" {
		t.Errorf("they are (-want +got):\n%s", diff)
	}
	s.MoveFiles(map[string][]string{
		"/home/me/pi.jar": {"s3a://b/pi.jar"}, "lib/*.jar": {"s3a://b/1.jar", "s3a://b/2.jar"}, "/home/me/my lib.jar": {"s3a://b/my%20lib.jar"}, "env.zip": {"s3a://b/env.zip"},
	})
	for key, want := range map[string]string{
		"spark.jars":     "s3a://b/1.jar,s3a://b/2.jar,local:///opt/a.jar,s3a://b/my%20lib.jar",
		"spark.archives": "s3a://b/env.zip#env,s3a://b/c.zip",
		"spark.files":    "a.conf", "spark.submit.pyFiles": "https://h/a.py",
	} {
		if got := s.Properties[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if s.Resource != "s3a://b/pi.jar" {
		t.Errorf("the application file is %q", s.Resource)
	}
}

func TestAnRFileWithAnAbsolutePathMayBeOneOfTheImage(t *testing.T) {
	for file, ofImage := range map[string]bool{"/opt/spark/a.R": true, "a.R": false, "file:///opt/a.R": false, "/opt/spark/a.py": false} {
		s, _ := submitted(t, sources(nil, nil), file)
		if got := s.LocalFiles(); len(got) != 1 || got[0].OfImage != ofImage {
			t.Errorf("%s: %+v", file, got)
		}
	}
	s, _ := submitted(t, sources(nil, nil), "--class", "org.apache.spark.deploy.history.HistoryServer", "spark-internal")
	if got := s.LocalFiles(); len(got) > 0 {
		t.Errorf("without an application file: %+v", got)
	}
}
