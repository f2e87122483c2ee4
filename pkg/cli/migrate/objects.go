package migrate

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	sparkcheck "github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/pkg/operators/drivers"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// parallel is how many objects are worked on at the same time.
const parallel = 8

// examined is what was found about an object.
type examined struct {
	name, state   string
	namespace     string
	ended, served bool
	found         finding.List
	// account is that of the driver that Firesteel would make; empty if none would be made.
	account string
	// running reports whether another operator's driver runs, as far as it is known, and compared whether it was compared.
	running     bool
	compared    bool
	differences []migration.DriverDifference
	err         error
}

// readObjects reads the objects of a kind page by page: no more than one page is in memory.
func (r *reading) readObjects(ctx context.Context, kind actions.Kind) error {
	return kind.Pages(ctx, r.Dynamic, r.Namespace, metav1.ListOptions{Limit: r.pageSize},
		func(_ schema.GroupVersionResource, page *unstructured.UnstructuredList) error {
			counts := r.report.CountsOf(kind.String())
			all := make([]*examined, len(page.Items))
			var group errgroup.Group
			group.SetLimit(parallel)
			for i := range page.Items {
				group.Go(func() error {
					all[i] = r.examine(ctx, &page.Items[i])
					return ctx.Err()
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
			for _, one := range all {
				r.add(counts, kind, one)
			}
			return nil
		})
}

// add adds an object to the report.
func (r *reading) add(counts *migration.KindCounts, kind actions.Kind, one *examined) {
	counts.Add(one.state, one.served)
	r.namespaces[one.namespace] = true
	r.report.AddFindings(kind.String(), one.name, one.ended, one.found)
	if one.account != "" && !one.ended {
		r.countUse(account{one.namespace, one.account}, one.name)
	}
	if one.running {
		r.report.Drivers.Running++
	}
	if one.compared {
		r.report.AddDriver(kind.String(), one.name, one.differences)
	}
	if one.err != nil {
		r.report.AddNotRead(one.err.Error())
	}
}

// examine checks an object, and compares its driver if another operator runs one.
func (r *reading) examine(ctx context.Context, source *unstructured.Unstructured) *examined {
	one := &examined{name: source.GetNamespace() + "/" + source.GetName(), namespace: source.GetNamespace(), state: "New"}
	o, err := overview.Read(source)
	if err != nil {
		one.found = finding.List{{Severity: finding.Error, Text: err.Error(), Remedy: "correct it"}}
		return one
	}
	one.state, one.ended, one.served = o.StateName(), o.Ended(), o.Record != nil && !o.Inherited
	one.found, _ = sparkcheck.Examine(o.Typed, r.settings.Config, r.Now(), sparkcheck.AsBuilt)
	manifest, err := withoutStatus(source).MarshalJSON()
	if err == nil {
		one.found, err = r.schemas.Complete(one.found, source.GroupVersionKind().GroupKind(), manifest)
	}
	if err != nil {
		one.err = fmt.Errorf("%s: %w", one.name, err)
		return one
	}
	if len(one.found.Of(finding.Error)) > 0 {
		one.running = r.driver(ctx, one, o) != nil || one.err != nil
		return one
	}
	created, err := sparkcheck.Create(o.Typed, r.settings.Config, r.Now())
	if err != nil || created == nil {
		return one // it is in the findings, or its user starts the driver
	}
	driver := driverOf(created)
	if driver == nil {
		return one
	}
	one.account = drivers.Account(driver)
	theirs := r.driver(ctx, one, o)
	one.running = theirs != nil || one.err != nil
	switch {
	case theirs == nil:
	case len(created.Templates) > 0:
		one.err = errors.New("pod templates behind URLs: drivers that have one are not compared")
	default:
		with, err := r.serviceAccount(ctx, account{driver.Namespace, one.account})
		if err != nil {
			with = nil // readAccounts reports it
		}
		drivers.Admit(driver, with, r.defaultPriority)
		one.differences, one.err = migration.CompareDrivers(theirs, driver, o.Redactor())
		one.compared = one.err == nil
	}
	return one
}

// withoutStatus returns an object with what users write of it. Another operator writes the status.
func withoutStatus(source *unstructured.Unstructured) *unstructured.Unstructured {
	written := map[string]any{}
	for key, value := range source.Object {
		if key != "status" {
			written[key] = value
		}
	}
	object := &unstructured.Unstructured{Object: written}
	metadata := map[string]any{}
	given, _, _ := unstructured.NestedFieldNoCopy(source.Object, "metadata") // an object of the API server has it
	if fields, ok := given.(map[string]any); ok {
		for key, value := range fields {
			if key != "managedFields" {
				metadata[key] = value
			}
		}
	}
	written["metadata"] = metadata
	return object
}

func driverOf(created *sparkcheck.Created) *corev1.Pod {
	for _, object := range created.Objects {
		if pod, ok := object.(*corev1.Pod); ok {
			return pod
		}
	}
	return nil
}

// driver returns the driver of an application that another operator runs; nil if it has none, or if it could not be read.
func (r *reading) driver(ctx context.Context, one *examined, o *overview.Object) *corev1.Pod {
	if o.Kind != overview.Application || one.ended || one.served || o.State == "" {
		return nil
	}
	pod, err := drivers.Of(ctx, r.Kube, o)
	if err != nil {
		one.err = fmt.Errorf("drivers in the namespace %s: %w", one.namespace, withoutName(err, o.DriverPod))
		return nil
	}
	if pod == nil || !drivers.Runs(pod) {
		return nil
	}
	return pod
}
