package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache/properties"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/pkg/operators"
	"github.com/firesteel-dev/firesteel/pkg/operators/drivers"
)

// reading reads the cluster into a report.
type reading struct {
	*check
	*connection.Cluster
	report   *migration.Report
	settings *settings.Settings
	schemas  schema.Schemas
	// namespaces are those with objects, and accounts those of drivers there.
	namespaces map[string]bool
	accounts   map[account]*accountUse
	cache      accountCache
	// defaultPriority is the priority class of Pods that name none.
	defaultPriority string
}

func (r *reading) read(ctx context.Context) error {
	if err := r.readOperators(ctx); err != nil {
		return err
	}
	if err := r.readSettings(ctx); err != nil {
		return err
	}
	if err := r.readPriorities(ctx); err != nil {
		return err
	}
	if err := r.readKinds(ctx); err != nil {
		return err
	}
	for _, read := range []func(context.Context) error{r.readRunning, r.readWebhooks, r.readDefinitions, r.readAccounts} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// unread adds why something was not read to the report. It returns an error only if the command was interrupted.
func (r *reading) unread(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.report.AddNotRead(fmt.Sprintf("%s: %v", what, err))
	return nil
}

// readOperators reads the Deployments of other operators, and suggests settings.
func (r *reading) readOperators(ctx context.Context) error {
	found, err := operators.Deployments(ctx, r.Kube, "")
	if err != nil && r.Namespace != "" {
		found, _ = operators.Deployments(ctx, r.Kube, r.Namespace) // the error stays: those of other namespaces were not read
	}
	if err := r.unread(ctx, "the Deployments of other operators, and their settings", err); err != nil {
		return err
	}
	// Webhooks have flags, too. Those of controllers count first.
	slices.SortStableFunc(found, func(a, b operators.Deployment) int { return cmp.Compare(a.Labels[component], b.Labels[component]) })
	for _, d := range found {
		installed := migration.InstalledOperator{Operator: d.Operator, Namespace: d.Namespace, Deployment: d.Name, Ready: d.Status.ReadyReplicas, Webhook: isWebhook(d)}
		var arguments []string
		for _, container := range d.Spec.Template.Spec.Containers {
			installed.Image = cmp.Or(installed.Image, container.Image)
			arguments = slices.Concat(arguments, container.Command, container.Args)
			installed.AddEnvironment(container.Env)
		}
		if d.Operator == operators.Kubeflow {
			r.report.AddKubeflow(installed, arguments)
			continue
		}
		conf, err := r.properties(ctx, d)
		if err := r.unread(ctx, "the properties of "+d.Namespace+"/"+d.Name, err); err != nil {
			return err
		}
		r.report.AddApache(installed, conf)
	}
	return nil
}

// readRunning finds other operators that run, and their webhooks.
func (r *reading) readRunning(ctx context.Context) error {
	var scope *config.Scope // all namespaces
	if r.Namespace != "" {
		var err error
		if scope, err = config.NewScope(&corev1.ConfigMap{Data: map[string]string{"watched-namespaces": r.Namespace}}); err != nil {
			return err
		}
	}
	found, err := operators.Find(ctx, r.Kube, scope, r.Now())
	for _, explanation := range found {
		r.report.Add(explanation.Summary, migration.Item{Severity: migration.Step, Area: migration.Operator, Message: explanation.Message()}, "")
	}
	return r.unread(ctx, "whether other operators run", err)
}

// component is the label with the part of an operator that a Deployment is: controller or webhook.
const component = "app.kubernetes.io/component"

func isWebhook(d operators.Deployment) bool { return d.Labels[component] == "webhook" }

// dynamicProperties is the name that the Apache operator's chart gives the ConfigMap with properties that win over those of its file.
const dynamicProperties = "spark-kubernetes-operator-dynamic-configuration"

// properties reads the properties of the Apache operator: those of the files that its Pods mount, and those that win over them.
func (r *reading) properties(ctx context.Context, d operators.Deployment) (map[string]string, error) {
	conf := map[string]string{}
	var errs []error
	for _, volume := range d.Spec.Template.Spec.Volumes {
		if volume.ConfigMap == nil && volume.Projected == nil {
			continue
		}
		for _, name := range mounted(volume) {
			configMap, err := r.Kube.CoreV1().ConfigMaps(d.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				errs = append(errs, err)
				continue
			}
			read, err := properties.Load(configMap.Data[properties.File])
			errs = append(errs, err)
			maps.Copy(conf, read)
		}
	}
	overrides, err := r.Kube.CoreV1().ConfigMaps(d.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + dynamicProperties})
	if err != nil {
		return conf, errors.Join(append(errs, err)...)
	}
	for i := range overrides.Items {
		if overrides.Items[i].Name == dynamicProperties {
			maps.Copy(conf, overrides.Items[i].Data)
		}
	}
	return conf, errors.Join(errs...)
}

// mounted returns the names of the ConfigMaps of a volume.
func mounted(volume corev1.Volume) (names []string) {
	if volume.ConfigMap != nil {
		return []string{volume.ConfigMap.Name}
	}
	for _, source := range volume.Projected.Sources {
		if source.ConfigMap != nil {
			names = append(names, source.ConfigMap.Name)
		}
	}
	return names
}

// readSettings reads the settings by which objects are judged.
func (r *reading) readSettings(ctx context.Context) (err error) {
	if r.check.settings.Chosen() {
		if r.settings, err = r.check.settings.Read(ctx, r.Options, r.namespacesOfFlags()); err != nil {
			return err
		}
		r.report.Settings = r.settings.Description()
		return nil
	}
	source := "the defaults of Firesteel " + version.String()
	if len(r.report.Suggested) > 0 {
		source += ", with the suggested settings"
	}
	suggested, err := config.Read(r.report.SettingsMaps())
	if err != nil {
		r.report.AddNotRead(fmt.Sprintf("the suggested settings together, so the defaults are used: %v", err))
		suggested, source = config.Default(), "the defaults of Firesteel "+version.String()
	}
	r.settings = &settings.Settings{Config: suggested, Source: source}
	r.report.Settings = source
	return nil
}

// namespacesOfFlags returns the namespace of the command line; none for all.
func (r *reading) namespacesOfFlags() []string {
	if r.Namespace == "" {
		return nil
	}
	return []string{r.Namespace}
}

// readPriorities reads the priority class that the API server gives to Pods without one.
func (r *reading) readPriorities(ctx context.Context) error {
	name, err := drivers.DefaultPriority(ctx, r.Kube)
	r.defaultPriority = name
	return r.unread(ctx, "the default priority class", err)
}

// readKinds reads the objects of all kinds that the API server has.
func (r *reading) readKinds(ctx context.Context) error {
	served := 0
	var refused error
	for _, kind := range actions.Kinds {
		err := r.readObjects(ctx, kind)
		switch {
		case actions.NotServed(err):
			continue
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			refused = cmp.Or(refused, err)
			r.report.AddNotRead(fmt.Sprintf("%s: %v", kind, err))
		}
		served++
	}
	switch {
	case served == 0:
		return target.NoneServed("Spark applications")
	case refused != nil && len(r.report.Kinds) == 0:
		return refused
	}
	return nil
}
