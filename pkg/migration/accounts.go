package migration

import (
	"fmt"
	"strings"
)

// Account is a service account that drivers would run as.
type Account struct {
	Namespace, Name string
	// Users names the applications that use it.
	Users string
	// Absent reports whether it does not exist.
	Absent bool
	// Release is the Helm release, as <namespace>/<name>, that may delete the account; empty if there is none.
	Release string
	// MayNotCreatePods reports whether its drivers get no executors.
	MayNotCreatePods bool
}

// AddAccount adds what has to be done about an account.
func (r *Report) AddAccount(a Account) {
	name := a.Namespace + "/" + a.Name
	add := func(severity Severity, key, message string) {
		r.Add(key, Item{Severity: severity, Area: Accounts, Message: message}, name)
	}
	if a.Absent {
		add(Blocks, "absent"+a.Name, fmt.Sprintf("The service account %s does not exist, with which the drivers of %s would run: create it, or name another", name, a.Users))
		return
	}
	if a.Release != "" {
		_, instance, _ := strings.Cut(a.Release, "/")
		add(Step, "release"+a.Release, fmt.Sprintf("The service account belongs to the Helm release %s, which deletes it when it leaves out the namespace. Keep those of each such namespace: "+
			"kubectl -n %s annotate serviceaccount,role,rolebinding -l app.kubernetes.io/instance=%s helm.sh/resource-policy=keep", a.Release, a.Namespace, instance))
	}
	if a.MayNotCreatePods {
		add(Differs, "rights"+a.Name, fmt.Sprintf("The service account %s may not create Pods, so its drivers get no executors: the chart gives the rights (spark.rbac.create), "+
			"or bind config/spark-role", name))
	}
}
