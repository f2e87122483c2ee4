package migration

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache/properties"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/flags"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// InstalledOperator is a Deployment of another operator.
type InstalledOperator struct {
	// Operator is Kubeflow or Apache.
	Operator   string `json:"operator"`
	Namespace  string `json:"namespace"`
	Deployment string `json:"deployment"`
	Image      string `json:"image,omitempty"`
	Ready      int32  `json:"readyPods"`
	// Webhook reports whether it serves only webhooks. Its settings count less than the controller's.
	Webhook bool `json:"webhook,omitempty"`
	// Given are its flags or properties.
	Given []Option `json:"given"`
}

// Option is a flag, a property or a variable of another operator.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// Instead is what takes its place in Firesteel; empty if nothing does.
	Instead string `json:"instead,omitempty"`
	// Why is the reason why nothing does.
	Why string `json:"why,omitempty"`
}

// AddEnvironment adds the variables of one of its containers.
func (i *InstalledOperator) AddEnvironment(env []corev1.EnvVar) {
	for _, variable := range env {
		if variable.ValueFrom == nil {
			i.Given = append(i.Given, Option{
				Name: "env " + variable.Name, Value: redact.Value(variable.Name, variable.Value), Instead: "controller.env of the chart, if the controller needs it, too",
			})
		}
	}
}

// AddKubeflow adds a Deployment of the Kubeflow operator with its arguments.
func (r *Report) AddKubeflow(installed InstalledOperator, arguments []string) {
	list := flags.Given(arguments)
	for _, f := range list {
		given := Option{Name: "--" + f.Name, Value: redact.Value(f.Name, f.Value), Instead: f.Instead}
		if f.None {
			given.Instead, given.Why = "", f.Instead
		}
		installed.Given = append(installed.Given, given)
	}
	for _, s := range flags.Settings(list) {
		r.suggest(installed, s.ConfigMap, s.Key, s.Value)
	}
	r.addOperator(installed)
}

// AddApache adds a Deployment of the Apache operator with its properties.
func (r *Report) AddApache(installed InstalledOperator, conf map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		given := Option{Name: name, Value: redact.Value(name, conf[name])}
		if s, ok := properties.SettingOf(name, conf[name]); ok {
			given.Instead = s.Key + " in " + s.ConfigMap
			r.suggest(installed, s.ConfigMap, s.Key, s.Value)
		} else {
			given.Why = "see " + properties.Page
		}
		installed.Given = append(installed.Given, given)
	}
	r.addOperator(installed)
}

func (r *Report) addOperator(installed InstalledOperator) {
	if installed.Given == nil {
		installed.Given = []Option{}
	}
	r.Operators = append(r.Operators, installed)
}

// suggest adds a setting to the suggested ones. If two operators have it, the first one counts. If Firesteel refuses the value, it adds an item
// instead.
func (r *Report) suggest(installed InstalledOperator, configMap, key, value string) {
	name := installed.Namespace + "/" + installed.Deployment
	known, ok := r.Suggested[configMap][key]
	switch {
	case ok && known != value && !installed.Webhook:
		r.Add(configMap+key, Item{
			Severity: Differs, Area: Operator, Field: key,
			Message: fmt.Sprintf("%s of %s is %s for one operator, and %s for another: choose one", key, configMap, redact.Value(key, known), redact.Value(key, value)),
		}, name)
		return
	case ok:
		return
	}
	if err := config.Check(settingsMap(configMap, map[string]string{key: value})); err != nil && !needsOthers(key) {
		r.Add(configMap+key, Item{Severity: Differs, Area: Operator, Field: key, Message: fmt.Sprintf("that operator's value cannot be taken over: %v", err)}, name)
		return
	}
	if r.Suggested[configMap] == nil {
		r.Suggested[configMap] = map[string]string{}
	}
	r.Suggested[configMap][key] = value
}

// needsOthers reports whether a key is valid only together with another one.
func needsOthers(key string) bool { return key == "default-batch-scheduler" }

func settingsMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data,
	}
}

// SettingsMaps returns the suggested settings as ConfigMaps.
func (r *Report) SettingsMaps() []corev1.ConfigMap {
	var configMaps []corev1.ConfigMap
	for _, name := range slices.Sorted(maps.Keys(r.Suggested)) {
		configMaps = append(configMaps, *settingsMap(name, r.Suggested[name]))
	}
	return configMaps
}
