package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module    = "github.com/firesteel-dev/firesteel"
	clientDir = "pkg/client"
	clients   = module + "/" + clientDir
)

var (
	// served are the API packages, below pkg/apis, whose kinds have clients, informers and reconcilers.
	served = []string{"early/v1alpha1", "firesteel/v1alpha1", "spark/v1", "sparkoperator/v1beta2"}
)

// generateGo writes the deep copies and pkg/client.
func generateGo(root string) error {
	// Without this, files of a removed kind would stay.
	if err := os.RemoveAll(filepath.Join(root, clientDir)); err != nil {
		return err
	}
	for _, generator := range generators() {
		if err := goRun(root, generator); err != nil {
			return err
		}
	}
	return removeStatusDiffs(root)
}

// generators returns the commands in the order of their dependencies: each reads what the earlier ones wrote.
func generators() [][]string {
	var (
		apis      = packages(served)
		header    = []string{"--go-header-file", "hack/codegen/boilerplate.go.txt"}
		versioned = clients + "/clientset/versioned"
		listers   = clients + "/listers"
	)
	return [][]string{
		tool("deepcopy-gen", header, []string{"--output-file", "zz_generated.deepcopy.go"}, apis),
		tool("client-gen", header, outputTo("clientset"), []string{
			"--clientset-name", "versioned",
			"--input-base", module + "/pkg/apis",
			"--input", strings.Join(served, ","),
		}),
		tool("lister-gen", header, outputTo("listers"), apis),
		tool("informer-gen", header, outputTo("informers"), []string{
			"--versioned-clientset-package", versioned,
			"--listers-package", listers,
		}, apis),
		tool("injection-gen", header, []string{
			"--input-dirs", strings.Join(apis, ","),
			"--versioned-clientset-package", versioned,
			"--external-versions-informers-package", clients + "/informers/externalversions",
			"--listers-package", listers,
			"--output-dir", clientDir + "/injection",
			"--output-package", clients + "/injection",
		}),
	}
}

func tool(name string, arguments ...[]string) []string {
	command := []string{"tool", name}
	for _, some := range arguments {
		command = append(command, some...)
	}
	return command
}

func outputTo(dir string) []string {
	return []string{"--output-dir", clientDir + "/" + dir, "--output-pkg", clients + "/" + dir}
}

func packages(versions []string) []string {
	paths := make([]string, 0, len(versions))
	for _, version := range versions {
		paths = append(paths, module+"/pkg/apis/"+version)
	}
	return paths
}

func goRun(dir string, arguments []string) error {
	command := exec.Command("go", arguments...)
	command.Dir, command.Stdout, command.Stderr = dir, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return nil
}
