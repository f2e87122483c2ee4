package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/spark"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

func TestStepsAreInOrder(t *testing.T) {
	c := New(cache.Dir(t.TempDir()), new(bytes.Buffer))
	more, err := spark.Find("3.5.9")
	if err != nil {
		t.Fatal(err)
	}
	contents := Contents{Spark: more, Eventing: true}
	for _, steps := range [][]step.Step{c.steps(contents), c.more(contents), c.sparkImageSteps(nil)} {
		var before []string
		for _, s := range steps {
			for _, name := range s.After {
				if !slices.Contains(before, name) {
					t.Errorf("%q comes after %q, which is not listed before it", s.Name, name)
				}
			}
			if s.Do == nil || s.Remedy == "" {
				t.Errorf("%q does nothing or has no remedy", s.Name)
			}
			before = append(before, s.Name)
		}
	}
}

func TestSourceKeyFollowsTheSource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	key := func() string {
		t.Helper()
		key, err := sourceKey(dir, "./cmd/x")
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	write("go.mod", "module x")
	write("go.sum", "")
	write("cmd/x/main.go", "package main")
	first := key()
	if key() != first {
		t.Error("the key changes by itself")
	}
	write("go.sum", "x v1")
	second := key()
	write("cmd/x/main.go", "package main // changed")
	if second == first || key() == second {
		t.Error("a change does not change the key")
	}
}

func TestLinkFlagsHaveTheVersion(t *testing.T) {
	flags := kubernetesLinkFlags()
	for _, want := range []string{"component-base/version.gitVersion=v1.35.4", "gitMajor=1 ", "gitMinor=35 "} {
		if !strings.Contains(flags, want) {
			t.Errorf("%s is missing in %s", want, flags)
		}
	}
}

func TestUpAndDownNeedRoot(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("this runs as root")
	}
	c := New(cache.Dir(t.TempDir()), new(bytes.Buffer))
	for _, err := range []error{c.Up(t.Context(), Contents{}), c.Down(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "needs root") {
			t.Errorf("got %v", err)
		}
	}
}

func TestStatusIfNoClusterRuns(t *testing.T) {
	var progress bytes.Buffer
	c := New(cache.Dir(t.TempDir()), &progress)
	if err := c.Healthy(t.Context()); err == nil {
		t.Error("a cluster that does not run is healthy")
	}
	if err := c.clear(step.NewRunner(&progress, t.TempDir())); err != nil {
		t.Error(err)
	}
	if progress.Len() > 0 {
		t.Errorf("progress is %q", &progress)
	}
}

func TestTheEnvironmentNamesTheCluster(t *testing.T) {
	got := New("/cache", new(bytes.Buffer)).Environment()
	want := []string{
		"KUBECONFIG=/cache/cluster/kubeconfig",
		"KO_DOCKER_REPO=127.0.0.1:5005/firesteel",
		"KO_DEFAULTBASEIMAGE=127.0.0.1:5005/base:1",
		"KUBEBUILDER_ASSETS=/cache/bin",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
