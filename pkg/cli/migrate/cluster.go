package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/pkg/operators"
)

// withoutName removes the name of an object from an error of the API server, so that the errors of alike objects are one.
func withoutName(err error, name string) error {
	return errors.New(strings.ReplaceAll(err.Error(), fmt.Sprintf("%q ", name), ""))
}

// readRunning finds other operators that run, and their webhooks.
func (r *reading) readRunning(ctx context.Context) error {
	var scope *config.Scope // all namespaces
	if r.namespace != "" {
		var err error
		if scope, err = config.NewScope(&corev1.ConfigMap{Data: map[string]string{"watched-namespaces": r.namespace}}); err != nil {
			return err
		}
	}
	found, err := operators.Find(ctx, r.kube, scope, r.Now())
	for _, explanation := range found {
		r.report.Add(explanation.Summary, migration.Item{Severity: migration.Step, Area: migration.Operator, Message: explanation.Message()}, "")
	}
	return r.unread(ctx, "whether other operators run", err)
}

// readWebhooks reads the webhooks that are called for drivers and applications.
func (r *reading) readWebhooks(ctx context.Context) error {
	var all []migration.Webhook
	mutating, err := r.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return r.unread(ctx, "webhooks", err)
	}
	for i := range mutating.Items {
		if mutating.Items[i].Labels[partOf] != firesteel {
			all = append(all, migration.MutatingWebhooks(&mutating.Items[i])...)
		}
	}
	validating, err := r.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err := r.unread(ctx, "validating webhooks", err); err != nil {
		return err
	}
	if err == nil {
		for i := range validating.Items {
			if validating.Items[i].Labels[partOf] != firesteel {
				all = append(all, migration.ValidatingWebhooks(&validating.Items[i])...)
			}
		}
	}
	labels, err := r.labelsOfNamespaces(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		var selected []string
		for _, namespace := range slices.Sorted(maps.Keys(r.namespaces)) {
			if w.Selects(namespace, labels[namespace]) {
				selected = append(selected, namespace)
			}
		}
		if len(selected) == 0 {
			continue
		}
		broken, err := r.broken(ctx, w)
		if err := r.unread(ctx, "whether webhooks answer", err); err != nil {
			return err
		}
		r.report.Webhook(w, broken, selected)
	}
	return nil
}

const (
	partOf    = "app.kubernetes.io/part-of"
	firesteel = "firesteel"
)

// labelsOfNamespaces returns the labels of the namespaces with objects. A namespace that was not read has none.
func (r *reading) labelsOfNamespaces(ctx context.Context) (map[string]map[string]string, error) {
	found := map[string]map[string]string{}
	for namespace := range r.namespaces {
		read, err := r.kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if err != nil {
			if err := r.unread(ctx, "labels of namespaces, so webhooks are taken to select them", withoutName(err, namespace)); err != nil {
				return nil, err
			}
			continue
		}
		found[namespace] = map[string]string{}
		maps.Copy(found[namespace], read.Labels)
	}
	return found, nil
}

// broken says why what serves a webhook cannot answer; empty if it can.
func (r *reading) broken(ctx context.Context, w migration.Webhook) (string, error) {
	if w.Service == "" {
		return "", nil
	}
	service, err := r.kube.CoreV1().Services(w.Namespace).Get(ctx, w.Service, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("its Service %s/%s does not exist", w.Namespace, w.Service), nil
	case err != nil:
		return "", withoutName(err, w.Service)
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return "", nil
	}
	slicesOf, err := r.kube.DiscoveryV1().EndpointSlices(w.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + w.Service})
	if err != nil {
		return "", err
	}
	for _, slice := range slicesOf.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				return "", nil
			}
		}
	}
	return fmt.Sprintf("its Service %s/%s has no Pod that is ready", w.Namespace, w.Service), nil
}

var (
	definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	connects    = schema.GroupVersionResource{Group: "sparkoperator.k8s.io", Version: "v1alpha1", Resource: "sparkconnects"}
)

// readDefinitions compares the CRDs with those of Firesteel.
func (r *reading) readDefinitions(ctx context.Context) error {
	all, err := crds.Of(crds.APIs()...)
	if err != nil {
		return err
	}
	for _, own := range all {
		live, err := r.dynamic.Resource(definitions).Get(ctx, own.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			if err := r.unread(ctx, "CustomResourceDefinitions", withoutName(err, own.GetName())); err != nil {
				return err
			}
			continue
		}
		r.judgeDefinition(own, live)
	}
	return r.readConnects(ctx)
}

// judgeDefinition adds what the take-over of a CRD meets.
func (r *reading) judgeDefinition(own, live *unstructured.Unstructured) {
	add := func(severity migration.Severity, key, message string) {
		r.report.Add(key, migration.Item{Severity: severity, Area: migration.Definitions, Message: message}, live.GetName())
	}
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions") // the API server writes it
	for _, version := range stored {
		if !slices.Contains(versions(own), version) {
			add(migration.Blocks, "stored"+version, fmt.Sprintf("The CRD %s has objects stored in the version %s, which Firesteel's does not have: "+
				"store them in another version first, and remove it from status.storedVersions", live.GetName(), version))
		}
	}
	if owner := crds.Owner(live); owner != "" {
		add(migration.Step, "owner"+owner, fmt.Sprintf("The CRD belongs to %s. The installation takes it over, by -take-over of setup or crds.takeOver=true of the chart: "+
			"all objects stay", owner))
	} else if live.GetAnnotations()[crds.AnnotationSchema] != own.GetAnnotations()[crds.AnnotationSchema] {
		add(migration.Differs, "skew", "The CRD is not of this version. "+crds.Skew(live, version.String()))
	}
	if release := crds.Release(live); release != "" {
		explanation := diagnosis.CRDsInRelease(release)
		add(migration.Step, "release"+release, explanation.Message())
	}
}

// versions returns the versions of a CRD.
func versions(crd *unstructured.Unstructured) (names []string) {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions") // Firesteel's own
	for _, entry := range list {
		if fields, ok := entry.(map[string]any); ok {
			name, _ := fields["name"].(string)
			names = append(names, name)
		}
	}
	return names
}

// readConnects counts the objects of the Kubeflow operator's kind that Firesteel does not serve.
func (r *reading) readConnects(ctx context.Context) error {
	options := metav1.ListOptions{Limit: r.pageSize}
	for {
		page, err := r.dynamic.Resource(connects).Namespace(r.namespace).List(ctx, options)
		switch {
		case apierrors.IsNotFound(err): // the kind is not served
			return nil
		case err != nil:
			return r.unread(ctx, connects.GroupResource().String(), err)
		}
		for i := range page.Items {
			r.report.Add("connect", migration.Item{
				Severity: migration.Blocks, Area: migration.Objects, Kind: connects.GroupResource().String(),
				Message: "Firesteel does not serve SparkConnect: leave its namespace to the Kubeflow operator, or run the server as an application " +
					"(org.apache.spark.sql.connect.service.SparkConnectServer)",
			}, page.Items[i].GetNamespace()+"/"+page.Items[i].GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

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

func (r *reading) use(a account, name string) {
	known := r.accounts[a]
	if known == nil {
		if len(r.accounts) >= maxAccounts {
			r.report.Unread(fmt.Sprintf("more than %d accounts of drivers", maxAccounts))
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

func (r *reading) readAccount(ctx context.Context, a account) error {
	name, use := a.namespace+"/"+a.name, r.accounts[a]
	add := func(severity migration.Severity, key, message string) {
		r.report.Add(key, migration.Item{Severity: severity, Area: migration.Accounts, Message: message}, name)
	}
	live, err := r.serviceAccount(ctx, a)
	switch {
	case apierrors.IsNotFound(err):
		add(migration.Blocks, "absent"+a.name, fmt.Sprintf("The service account %s does not exist, with which the drivers of %s would run: create it, or name another", name, use))
		return nil
	case err != nil:
		return r.unread(ctx, "service accounts of drivers in the namespace "+a.namespace, withoutName(err, a.name))
	}
	if release := crds.Release(live); release != "" && live.Labels[partOf] != firesteel && live.Annotations["helm.sh/resource-policy"] != "keep" {
		_, instance, _ := strings.Cut(release, "/")
		add(migration.Step, "release"+release, fmt.Sprintf("The service account belongs to the Helm release %s, which deletes it when it leaves out the namespace. Keep those of each such namespace: "+
			"kubectl -n %s annotate serviceaccount,role,rolebinding -l app.kubernetes.io/instance=%s helm.sh/resource-policy=keep", release, a.namespace, instance))
	}
	review, err := r.kube.AuthorizationV1().LocalSubjectAccessReviews(a.namespace).Create(ctx, &authorizationv1.LocalSubjectAccessReview{
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
		return r.unread(ctx, "whether accounts of drivers may create Pods", err)
	}
	if !review.Status.Allowed {
		add(migration.Differs, "rights"+a.name, fmt.Sprintf("The service account %s may not create Pods, so its drivers get no executors: the chart gives the rights (spark.rbac.create), "+
			"or bind config/spark-role", name))
	}
	return nil
}

// accountCache has the accounts that were read, or why they were not: the comparison of drivers and the check of accounts both ask for them.
type accountCache struct {
	lock sync.Mutex
	read map[account]accountRead
}

type accountRead struct {
	account *corev1.ServiceAccount
	err     error
}

// serviceAccount returns an account. It is read once.
func (r *reading) serviceAccount(ctx context.Context, a account) (*corev1.ServiceAccount, error) {
	r.cache.lock.Lock()
	defer r.cache.lock.Unlock()
	if known, ok := r.cache.read[a]; ok {
		return known.account, known.err
	}
	live, err := r.kube.CoreV1().ServiceAccounts(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if r.cache.read == nil {
		r.cache.read = map[account]accountRead{}
	}
	if len(r.cache.read) < maxAccounts {
		r.cache.read[a] = accountRead{live, err}
	}
	return live, err
}
