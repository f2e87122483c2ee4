package integration

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// roles are the files with the cluster roles of service accounts in Firesteel's namespace.
var roles = map[string]string{
	"archive":           "archive-service/500-archive.yaml",
	"console":           "console/500-console.yaml",
	"controller":        "200-clusterrole.yaml",
	"handler-archive":   "archive-eventing/500-handler-archive.yaml",
	"handler-namespace": "workload-namespaces/200-handler.yaml",
	"handler-restart":   "eventing/500-handler-restart.yaml",
	"handler-schedule":  "eventing/500-handler-schedule.yaml",
	"handler-ttl":       "eventing/500-handler-ttl.yaml",
	"webhook":           "webhook/500-webhook*.yaml",
}

// unseen are the rules that no request of these tests shows the need of, and why they are there.
var unseen = map[string]string{
	"update sparkapplications/finalizers":          "an admission plugin asks for it, when an object blocks its owner's deletion",
	"update scheduledsparkapplications/finalizers": "an admission plugin asks for it, when an object blocks its owner's deletion",
	"update sparkclusters/finalizers":              "an admission plugin asks for it, when an object blocks its owner's deletion",
	"get pods":                                     "where the driver is not among the first 1000 Pods of its attempt",
	"watch pods":                                   "with follow in config-archive, by the handler archive",
	"list events":                                  "where Pods are missing, which are another controller's that does not run here",
	"get sparkclusters":                            "after a conflict over a finalizer",
	"list sparkclusters":                           "where the API server cannot stream what exists",
	"list services":                                "where the API server cannot stream what exists",
	"list statefulsets":                            "where the API server cannot stream what exists",
	"list networkpolicies":                         "where the API server cannot stream what exists",
	"list horizontalpodautoscalers":                "where the API server cannot stream what exists",
	"list poddisruptionbudgets":                    "where the API server cannot stream what exists",
	"list sparkapplications":                       "where the API server cannot stream what exists",
	"list scheduledsparkapplications":              "where the API server cannot stream what exists",
	"patch scheduledsparkapplications/status":      "for one that cannot be decoded, which the schema refuses",
	"delete mutatingwebhookconfigurations":         "an admission plugin asks for it, when it sets the owner",
	"list mutatingwebhookconfigurations":           "where the API server cannot stream what exists",
	"delete validatingwebhookconfigurations":       "an admission plugin asks for it, when it sets the owner",
	"list validatingwebhookconfigurations":         "where the API server cannot stream what exists",
	"list namespaces":                              "where the API server cannot stream what exists",
	"bind clusterroles":                            "the API server asks for it, when a RoleBinding is created",
	"list configmaps":                              "where the API server cannot stream what exists",
	"list resourcequotas":                          "where the API server cannot stream what exists",
	"list priorityclasses":                         "where the API server cannot stream what exists",
	"list runtimeclasses":                          "where the API server cannot stream what exists",
	"list customresourcedefinitions":               "where the API server cannot stream what exists",
	"watch customresourcedefinitions":              "while a kind is absent, in a control plane of its own",
}

// checkRoles checks all requests against the roles: none was refused because a rule is missing, and, if all tests ran, no
// role has a rule that it does not need.
func (p *controlPlanePool) checkRoles() error {
	var errs []error
	for account, file := range roles {
		var requests []controlplane.Request
		for _, s := range p.started {
			if s.Installation == nil { // it did not start: its test says why
				continue
			}
			some, err := s.Plane.Audit(userOf(account)).Requests()
			if err != nil {
				return err
			}
			requests = append(requests, some...)
		}
		role, err := clusterRole(filepath.Join(configFolder, file))
		if err != nil {
			return err
		}
		used, beyond := kindsOf(requests)
		for kind := range beyond {
			errs = append(errs, fmt.Errorf("%s does not allow %s what it asks for: %s", file, account, kind))
		}
		for _, kind := range role {
			if allTestsRan() && unseen[kind] == "" && !used[kind] {
				errs = append(errs, fmt.Errorf("%s allows %s what it never asks for: %s", file, account, kind))
			}
		}
	}
	return errors.Join(errs...)
}

func allTestsRan() bool {
	return flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
}

// userOf is the name that the API server knows a service account of Firesteel's namespace by.
func userOf(account string) string {
	return "system:serviceaccount:" + firesteel.SystemNamespace + ":" + account
}

// kindsOf are the kinds of requests, and of those among them that no role allows.
func kindsOf(requests []controlplane.Request) (used, beyond map[string]bool) {
	used, beyond = map[string]bool{}, map[string]bool{}
	for _, request := range requests {
		used[request.Kind()] = true
		if request.Forbidden {
			beyond[request.Kind()] = true
		}
	}
	return used, beyond
}

// clusterRole are the kinds of requests that the cluster roles in the files of a pattern allow.
func clusterRole(pattern string) ([]string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var documents [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		documents = append(documents, bytes.Split(text, []byte("\n---\n"))...)
	}
	var kinds []string
	for _, document := range documents {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal(document, &role); err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if role.Kind != "ClusterRole" {
			continue
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					kinds = append(kinds, verb+" "+resource)
				}
			}
		}
	}
	return kinds, nil
}
