package site

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/check/plan"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/pkg/operators/drivers"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const (
	// maxPlans bounds the plans that a replica makes at once, and planTimeout the time of one. Each user has one at a time.
	maxPlans, planTimeout = 4, 10 * time.Second
	// maxPlanned bounds the objects that are compared. maxCompared and maxLines bound the bytes and the lines of an object: a comparison takes long with
	// many lines, and does not end before it is done.
	maxPlanned, maxCompared, maxLines = 32, 128 << 10, 2000
	// maxOwn bounds the config maps with defaults of a namespace that are read: it may have two.
	maxOwn = 10
)

// planSlots bounds the plans that are made at once.
type planSlots struct {
	// users gives each user one slot, and places has one for each plan.
	users  *fairshare.Limiter
	places chan struct{}
}

func newPlanSlots(places int) *planSlots {
	return &planSlots{users: fairshare.New(places, 1), places: make(chan struct{}, places)}
}

// acquire waits until a user may have a plan made. The caller must call release once.
func (p *planSlots) acquire(ctx context.Context, user string) (release func(), err error) {
	done, err := p.users.Acquire(ctx, user)
	if err != nil {
		return nil, err
	}
	select {
	case p.places <- struct{}{}:
		return func() { <-p.places; done() }, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}

// Plan compares what runs with what an application and the settings make. What is planned is shown only if the user may read what it is compared with:
// the settings are the console's.
func (i *identity) Plan(ctx context.Context, ref live.Ref, version string) (*pages.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	release, err := i.plans.acquire(ctx, i.user)
	if err != nil {
		return &pages.Plan{Problem: "The console makes other plans now, one of each user at a time. Try again in a moment."}, nil
	}
	defer release()
	source, err := i.Object(ctx, ref, version)
	if err != nil {
		return &pages.Plan{Problem: "The object cannot be read: " + err.Error()}, nil
	}
	redactor := (&overview.Object{Source: source}).Redactor()
	o, err := overview.Read(source)
	if err != nil {
		return &pages.Plan{Problem: redactor.Text(err.Error())}, nil
	}
	result := &pages.Plan{Foreign: o.Inherited}
	settings := i.settingsOf(ctx, ref.Namespace, result)
	made, found := plan.Of(o.Typed, settings, i.clock.Now())
	for _, f := range found {
		if f.Severity == finding.Error {
			result.Refused = append(result.Refused, redactor.Text(f.Error()))
		} else {
			result.Warnings = append(result.Warnings, redactor.Text(f.Error()))
		}
	}
	if made == nil {
		return result, nil
	}
	result.Unread = append(result.Unread, made.Templates...)
	if o.Inherited {
		err = i.compareDriver(ctx, o, made, result)
	} else {
		err = i.compareObjects(ctx, source, made, result)
	}
	return result, err
}

// settingsOf returns the settings of a namespace, with its own defaults as far as the user may read them.
func (i *identity) settingsOf(ctx context.Context, namespace string, result *pages.Plan) *config.Config {
	settings, err := i.settings(ctx)
	if err != nil {
		settings = config.Default()
		result.Unread = append(result.Unread, "the cluster's settings ("+err.Error()+")")
	}
	own, err := i.client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: config.LabelOwnDefaults, Limit: maxOwn})
	if err != nil {
		result.Unread = append(result.Unread, "the defaults of the namespace "+namespace)
		return settings
	}
	with, err := settings.WithOwn(own.Items)
	if err != nil {
		result.Warnings = append(result.Warnings, err.Error())
	}
	return with
}

// compareObjects compares each planned object with the one of its name.
func (i *identity) compareObjects(ctx context.Context, source *unstructured.Unstructured, made *plan.Plan, result *pages.Plan) error {
	manifest, err := source.MarshalJSON()
	if err != nil {
		return err
	}
	planned := slices.DeleteFunc(made.Objects, plan.IsTemplate)
	hidden := 0
	for _, object := range planned[:min(len(planned), maxPlanned)] {
		compared, err := i.compare(ctx, manifest, object)
		if err != nil {
			return err
		}
		if compared.State == pages.Hidden {
			hidden++
		}
		result.Objects = append(result.Objects, *compared)
	}
	if len(planned) > maxPlanned {
		result.Unread = append(result.Unread, fmt.Sprintf("%d further objects", len(planned)-maxPlanned))
	}
	if hidden > 0 && hidden == len(result.Objects) {
		result.Objects = nil
		result.Problem = "You may not read the Pods, Services and ConfigMaps of the application, so nothing is compared."
	}
	return nil
}

// compare compares a planned object with the one of its name.
func (i *identity) compare(ctx context.Context, manifest []byte, planned *unstructured.Unstructured) (*pages.PlannedObject, error) {
	result := &pages.PlannedObject{Name: plan.Name(planned), State: pages.Absent}
	resource, _ := meta.UnsafeGuessKindToResource(planned.GroupVersionKind())
	existing, err := i.objects.Resource(resource).Namespace(planned.GetNamespace()).Get(ctx, planned.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		existing = nil // also if the kind is not installed
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		result.State = pages.Hidden
		return result, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", result.Name, err)
	default:
		plan.Hide(manifest, existing)
	}
	plan.Hide(manifest, planned)
	before, after, err := plan.Texts(existing, planned)
	switch {
	case err != nil:
		return nil, err
	case len(before) > maxCompared || len(after) > maxCompared:
		result.State = pages.Large
	case existing == nil:
		result.Text = after
	case before == after:
		result.State = pages.AsPlanned
	case strings.Count(before, "\n") > maxLines || strings.Count(after, "\n") > maxLines:
		result.State = pages.Large
	default:
		result.State = pages.Differs
		result.Text, err = plan.Difference(before, after, result.Name)
	}
	return result, err
}

// compareDriver compares the driver of another operator with the one that Firesteel would make.
func (i *identity) compareDriver(ctx context.Context, o *overview.Object, made *plan.Plan, result *pages.Plan) error {
	theirs, err := drivers.Of(ctx, i.client, o)
	switch {
	case apierrors.IsForbidden(err):
		result.Problem = "You may not read the Pods of the namespace " + o.Namespace() + ", so the driver is not compared."
		return nil
	case err != nil:
		return err
	case theirs == nil || !drivers.Runs(theirs) || made.Driver == nil:
		result.Problem = "Another operator runs the application, and no driver of it runs now that could be compared."
		return nil
	case len(made.Templates) > 0:
		result.Problem = "The application has pod templates at URLs: its driver is not compared."
		return nil
	}
	account, err := i.client.CoreV1().ServiceAccounts(o.Namespace()).Get(ctx, drivers.Account(made.Driver), metav1.GetOptions{})
	if err != nil {
		account = nil
		result.Unread = append(result.Unread, "the account of the driver")
	}
	priority, err := drivers.DefaultPriority(ctx, i.client)
	if err != nil {
		result.Unread = append(result.Unread, "the default priority class")
	}
	drivers.Admit(made.Driver, account, priority)
	result.Driver, err = migration.CompareDrivers(theirs, made.Driver, o.Redactor())
	return err
}
