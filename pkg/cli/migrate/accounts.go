package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/pkg/migration"
)

// account is a service account of drivers.
type account struct{ namespace, name string }

// accountUse is which applications use an account.
type accountUse struct {
	count    int
	examples []string
}

// String names the users of an account.
func (u *accountUse) String() string {
	names := strings.Join(u.examples, ", ")
	if more := u.count - len(u.examples); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

const (
	maxAccounts = 2000
	// maxExamples is how many users of an account a message names.
	maxExamples = 3
)

// countUse counts an application that uses an account.
func (r *reading) countUse(a account, name string) {
	known := r.accounts[a]
	if known == nil {
		if len(r.accounts) >= maxAccounts {
			r.report.AddNotRead(fmt.Sprintf("more than %d accounts of drivers", maxAccounts))
			return
		}
		known = &accountUse{}
		r.accounts[a] = known
	}
	known.count++
	if len(known.examples) < maxExamples {
		known.examples = append(known.examples, name)
	}
}

// readAccounts checks the accounts of the drivers that Firesteel would make.
func (r *reading) readAccounts(ctx context.Context) error {
	all := slices.SortedFunc(maps.Keys(r.accounts), func(a, b account) int {
		return strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name)
	})
	for _, a := range all {
		if err := r.readAccount(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// readAccount reads an account, and whether its drivers may create executors.
func (r *reading) readAccount(ctx context.Context, a account) error {
	read := migration.Account{Namespace: a.namespace, Name: a.name, Users: r.accounts[a].String()}
	live, err := r.serviceAccount(ctx, a)
	switch {
	case apierrors.IsNotFound(err):
		read.Absent = true
		r.report.AddAccount(read)
		return nil
	case err != nil:
		return r.unread(ctx, "service accounts of drivers in the namespace "+a.namespace, withoutName(err, a.name))
	}
	if live.Labels[partOf] != firesteel && live.Annotations["helm.sh/resource-policy"] != "keep" {
		read.Release = crds.Release(live)
	}
	allowed, err := r.mayCreatePods(ctx, a)
	read.MayNotCreatePods = err == nil && !allowed
	r.report.AddAccount(read)
	return r.unread(ctx, "whether accounts of drivers may create Pods", err)
}

// mayCreatePods asks the API server whether an account may create Pods in its namespace.
func (r *reading) mayCreatePods(ctx context.Context, a account) (bool, error) {
	review, err := r.Kube.AuthorizationV1().LocalSubjectAccessReviews(a.namespace).Create(ctx, &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   "system:serviceaccount:" + a.namespace + ":" + a.name,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + a.namespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: a.namespace, Verb: "create", Resource: "pods",
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// accountCache holds the accounts that were read, or why they were not. The comparison of drivers and the check of accounts both need them.
type accountCache struct {
	lock sync.Mutex
	read map[account]accountRead
}

type accountRead struct {
	account *corev1.ServiceAccount
	err     error
}

// serviceAccount returns an account. It reads each account once.
func (r *reading) serviceAccount(ctx context.Context, a account) (*corev1.ServiceAccount, error) {
	r.cache.lock.Lock()
	defer r.cache.lock.Unlock()
	if known, ok := r.cache.read[a]; ok {
		return known.account, known.err
	}
	live, err := r.Kube.CoreV1().ServiceAccounts(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if r.cache.read == nil {
		r.cache.read = map[account]accountRead{}
	}
	if len(r.cache.read) < maxAccounts {
		r.cache.read[a] = accountRead{live, err}
	}
	return live, err
}
