package check

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Asks is what an object asks of quotas.
type Asks struct {
	// Pods are those that it creates at first. There are none if nothing is created, or if it is not known what.
	Pods []v1alpha1.QuotaPods
	// Later reports whether no Pod is created now: the object is a schedule, or suspended.
	Later bool
	// Most are the Pods with all executors that dynamic allocation may ask for; none if these are no more.
	Most []v1alpha1.QuotaPods
}

// Admitted returns a Pod as the API server will admit it.
type Admitted func(pod *corev1.Pod) *corev1.Pod

// AsBuilt returns a Pod as Firesteel builds it.
func AsBuilt(pod *corev1.Pod) *corev1.Pod { return pod }

// AsksOf returns what an object asks of quotas.
func AsksOf(object Object, installation *config.Config, now time.Time, admitted Admitted) Asks {
	_, asks := Examine(object, installation, now, admitted)
	return asks
}

// Examine returns everything that is found about an object: errors, for which it is refused, and warnings. It also returns what the object
// asks of quotas. installation are the settings of the installation.
func Examine(object Object, installation *config.Config, now time.Time, admitted Admitted) (finding.List, Asks) {
	object = named(object)
	settings := installation.In(object.GetNamespace())
	switch object := object.(type) {
	case *sparkv1.SparkCluster:
		return cluster(object, installation, admitted)
	case variant.Schedule:
		return ofSchedule(object, settings, now, admitted)
	case dialect.Application:
		return application(object, settings, admitted)
	default:
		return finding.List{{Text: fmt.Sprintf("%T is no object that Firesteel serves", object)}}, Asks{}
	}
}

// RunsAnew reports whether the edit of an object that has ended runs it again.
func RunsAnew(before, after Object, installation *config.Config) bool {
	oldCluster, ok := before.(*sparkv1.SparkCluster)
	c, ok2 := after.(*sparkv1.SparkCluster)
	if ok && ok2 {
		return !status.SpecOf(oldCluster).Same(status.SpecOf(c))
	}
	old, ok := before.(dialect.Application)
	app, ok2 := after.(dialect.Application)
	if !ok || !ok2 {
		return false
	}
	d := apiOf(app).Dialect(installation.In(app.GetNamespace()))
	return d.Policy(app).Interrupts && !d.Spec(old).Same(d.Spec(app))
}

// named returns an object with a name like the one that the API server will generate for it, if it has none.
func named(object Object) Object {
	const generated, longest = "xxxxx", 58
	prefix := object.GetGenerateName()
	if object.GetName() != "" || prefix == "" {
		return object
	}
	copied := object.DeepCopyObject().(Object)
	copied.SetName(prefix[:min(len(prefix), longest)] + generated)
	return copied
}

func application(app dialect.Application, settings *config.Config, admitted Admitted) (finding.List, Asks) {
	if reason := app.GetUndecodable(); reason != "" {
		return undecodable("application", reason), Asks{}
	}
	api := apiOf(app)
	d := api.Dialect(settings)
	checked := dialect.Check(d, api.API, app)
	if checked.Objects == nil {
		return checked.Found, Asks{}
	}
	executor, count := quota.PlannedExecutors(checked.Plan)
	asks := Asks{Pods: quota.Claim(admitted(checked.Objects.Driver), admitted(executor), count), Later: d.Policy(app).Suspend}
	if most := submission.MostExecutors(checked.Plan); len(asks.Pods) > 1 && most > asks.Pods[1].Count {
		asks.Most = slices.Clone(asks.Pods)
		asks.Most[1].Count = most
	}
	return checked.Found, asks
}

// apis are the APIs of applications by their groups. They have no client.
var apis = applications.All(nil)

// apiOf returns the API of an application. One that was decoded as a part of a list does not name it.
func apiOf(app dialect.Application) *applications.API {
	switch app.(type) {
	case *v1beta2.SparkApplication:
		return apis[v1beta2.SchemeGroupVersion.Group]
	case *earlyv1alpha1.SparkApplication:
		return apis[earlyv1alpha1.SchemeGroupVersion.Group]
	default:
		return apis[sparkv1.SchemeGroupVersion.Group]
	}
}

// undecodable is about an object that cannot be decoded. The reason names the field.
func undecodable(noun, reason string) finding.List {
	explained := diagnosis.Undecodable(noun, reason)
	return finding.List{{Severity: finding.Error, Reason: explained.Reason, Text: explained.Summary, Remedy: explained.Remedy}}
}

func cluster(c *sparkv1.SparkCluster, installation *config.Config, admitted Admitted) (finding.List, Asks) {
	if c.Undecodable != "" {
		return undecodable("cluster", c.Undecodable), Asks{}
	}
	defaults := installation.OfClusters(c.Namespace)
	objects, err := resources.Build(c, defaults)
	found := slices.Concat(finding.Of(err), refusedByRules(c), status.Invalid(c, installation.Admission.Rules))
	found = append(found, status.Warnings(c).Beside(found)...)
	if err != nil {
		return found, Asks{}
	}
	found = append(found, objects.PodSecurityWarnings(defaults.PodSecurity)...)
	master, worker := objects.Pods()
	return found, Asks{Pods: quota.Claim(admitted(master), admitted(worker), int64(resources.InitialWorkers(c))), Later: c.Spec.Suspend}
}

var clusterName = regexp.MustCompile(finding.ClusterNamePattern)

// refusedByRules returns what the API server refuses about a new cluster by rules of the CustomResourceDefinition. It does not refuse an edit of a
// cluster that has such a value.
func refusedByRules(c *sparkv1.SparkCluster) (found finding.List) {
	if c.UID != "" {
		return nil
	}
	if name := c.Name; len(name) > finding.MaxClusterName || !clusterName.MatchString(name) {
		refused := finding.NoClusterName
		refused.Value = name
		found.Add(refused)
	}
	if version := c.Spec.RuntimeVersions.SparkVersion; len(validation.IsValidLabelValue(version)) > 0 {
		found.Refuse("spec.runtimeVersions.sparkVersion", version, finding.NoVersionLabel.Message, finding.NoVersionLabel.Remedy)
	}
	return found
}

func ofSchedule(s variant.Schedule, settings *config.Config, now time.Time, admitted Admitted) (finding.List, Asks) {
	if reason := s.GetUndecodable(); reason != "" {
		return undecodable("schedule", reason), Asks{}
	}
	kind := variant.KindOf(s)
	found := kind.PolicyOf(s, now).Refusals
	run, err := runOf(kind, s, now)
	if err != nil {
		return append(found, finding.Finding{Field: "spec.template", Message: fmt.Sprintf("is no application (%v)", err), Remedy: "write one"}), Asks{}
	}
	inRun, asks := application(run, settings, admitted)
	for i := range inRun {
		inRun[i] = kind.FoundInTemplate(inRun[i])
	}
	asks.Later = true
	return append(found, inRun.Beside(found)...), asks
}

// runOf returns the application that a schedule would start at an instant.
func runOf(kind *variant.Kind, s variant.Schedule, instant time.Time) (dialect.Application, error) {
	run, err := kind.NewRun(s, instant)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(run)
	if err != nil {
		return nil, err
	}
	object, err := Decode(encoded)
	if err != nil {
		return nil, err
	}
	return object.(dialect.Application), nil
}
