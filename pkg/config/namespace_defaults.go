package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// The config maps of a namespace with defaults of its own.
const (
	// OwnDefaultsName is the config map whose keys are some of config-defaults.
	OwnDefaultsName = "firesteel-defaults"
	// OwnKubeflowName is the config map whose keys are some of config-kubeflow.
	OwnKubeflowName = "firesteel-kubeflow"
	// LabelOwnDefaults is the label that both need. Its value is enabled.
	LabelOwnDefaults = "firesteel.dev/defaults"
)

// maxOwnDefaults bounds the bytes of such a config map.
const maxOwnDefaults = 64 << 10

// ownKeys holds the keys that a namespace may set, by config map. None of them gives rights: an application's author can set the same in its
// spec. The others concern the whole installation, or let Firesteel act with rights that are not the namespace's.
var ownKeys = map[string][]string{
	OwnDefaultsName: {
		"active-deadline", "applicationTolerations", "driver-config-maps", "driver-service", "image", "pod-security", "pod-security-user", "spark-defaults.conf",
	},
	OwnKubeflowName: {
		"active-deadline", "default-batch-scheduler", "default-time-to-live", "driver-config-maps", "driver-service", "driver-start-timeout",
		"executors-start-timeout", "pod-security", "pod-security-user", "spark-defaults.conf", "ui-service",
	},
}

// overlays holds a function for each config map of a namespace, which reads it over a snapshot of the installation.
var overlays = map[string]func(*corev1.ConfigMap, *Config) error{
	OwnDefaultsName: overlayDefaults,
	OwnKubeflowName: overlayKubeflow,
}

func overlayDefaults(configMap *corev1.ConfigMap, into *Config) error {
	base := into.Defaults
	own := *base
	own.Tolerations, own.Properties = apache.Defaults{}.Tolerations, nil
	err := errors.Join(defaultsKeys(&own).readOwn(DefaultsName, configMap), into.checkDenied(configMap.Name, own.Properties))
	own.Tolerations = apache.TolerationsOver(own.Tolerations, base.Tolerations)
	own.Properties = propertiesOver(own.Properties, base.Properties)
	into.Defaults = &own
	return err
}

func overlayKubeflow(configMap *corev1.ConfigMap, into *Config) error {
	base := into.Kubeflow
	own := *base
	own.Properties = nil
	err := errors.Join(kubeflowKeys(&own).readOwn(KubeflowName, configMap), into.checkDenied(configMap.Name, own.Properties))
	if problem := own.checkScheduler(); problem != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w", configMap.Name, problem))
	}
	own.Properties = propertiesOver(own.Properties, base.Properties)
	into.Kubeflow = &own
	return err
}

// propertiesOver returns properties with those of a namespace over those of the installation.
func propertiesOver(own, base map[string]string) map[string]string {
	if len(own) == 0 {
		return base
	}
	all := maps.Clone(base)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, own)
	return all
}

// readOwn reads the config map of a namespace. It refuses keys that only the installation may set.
func (k Keys) readOwn(installation string, configMap *corev1.ConfigMap) error {
	allowed, data, size := Keys{}, map[string]string{}, 0
	for _, key := range ownKeys[configMap.Name] {
		allowed[key] = k[key]
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(configMap.Data)) {
		value := configMap.Data[key]
		if size += len(key) + len(value); size > maxOwnDefaults {
			return fmt.Errorf("%s: it has more than %d bytes: write fewer", configMap.Name, maxOwnDefaults)
		}
		if allowed.find(key) == nil && k.find(key) != nil {
			errs = append(errs, fmt.Errorf("%s: %w", configMap.Name, InvalidValue(key, value, "remove it, since only "+installation+" may set it")))
			continue
		}
		data[key] = value
	}
	return errors.Join(append(errs, allowed.Read(configMap.Name, &corev1.ConfigMap{Data: data}))...)
}

// checkDenied returns an error for properties that the installation denies to applications.
func (c *Config) checkDenied(name string, properties map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		denies := ""
		switch {
		case c.Kubeflow.Denies(key):
			denies = KubeflowName
		case c.Admission.Rules.Denies(key):
			denies = AdmissionName
		}
		if denies != "" {
			errs = append(errs, fmt.Errorf("%s: %w", name, InvalidValue("spark-defaults.conf: "+key, properties[key],
				"remove it, since denied-spark-properties of "+denies+" has it")))
		}
	}
	return errors.Join(errs...)
}

// ownDefaults is a config map of a namespace.
type ownDefaults struct {
	// latest is the config map as it is; nil if it was deleted. accepted is the last one that is valid.
	latest, accepted *corev1.ConfigMap
	// refused is the version of the config map that was reported as invalid.
	refused string
}

// Complete reports whether all config maps of the installation are read.
func (c *Config) Complete() bool { return c.own != nil }

// In returns the settings for the objects of a namespace: its own defaults over those of the installation.
func (c *Config) In(namespace string) *Config {
	if c.own != nil {
		if own, ok := c.own.Load(namespace); ok {
			return own.(*Config)
		}
	}
	return c
}

// SetOwnDefaults reads a config map of a namespace. If it is invalid, the last valid one stays. It reports whether the settings of the
// namespace may have changed.
func (s *Store) SetOwnDefaults(configMap *corev1.ConfigMap) bool {
	return s.setOwnDefaults(configMap.Namespace, configMap.Name, &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: configMap.Namespace, Name: configMap.Name, UID: configMap.UID, ResourceVersion: configMap.ResourceVersion,
		},
		Data: configMap.Data,
	})
}

// DropOwnDefaults drops a config map of a namespace that was deleted, or has lost its label.
func (s *Store) DropOwnDefaults(namespace, name string) bool {
	return s.setOwnDefaults(namespace, name, nil)
}

func (s *Store) setOwnDefaults(namespace, name string, configMap *corev1.ConfigMap) bool {
	if overlays[name] == nil {
		return false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	own := s.own[namespace]
	if own == nil {
		own = map[string]*ownDefaults{}
		s.own[namespace] = own
	}
	if own[name] == nil {
		own[name] = &ownDefaults{}
	}
	own[name].latest = configMap
	current := s.Load()
	if current.own == nil {
		return false // evaluateAll evaluates it when the installation's settings are complete
	}
	s.evaluate(namespace, current)
	return true
}

// evaluateAll evaluates the config maps of all namespaces, as soon as the installation's settings are complete.
func (s *Store) evaluateAll(settings *Config) {
	if len(s.read) < len(parsers) {
		return
	}
	settings.own = &sync.Map{}
	for namespace := range s.own {
		s.evaluate(namespace, settings)
	}
}

// evaluate computes the settings of a namespace. In the place of an invalid config map, the last valid one counts.
func (s *Store) evaluate(namespace string, installation *Config) {
	latest := map[string]*corev1.ConfigMap{}
	for name, own := range s.own[namespace] {
		if own.latest == nil {
			delete(s.own[namespace], name)
			continue
		}
		latest[name] = own.latest
	}
	if len(latest) == 0 {
		delete(s.own, namespace)
		installation.own.Delete(namespace)
		return
	}
	refused := map[string]bool{}
	settings := installation.over(latest, func(configMap *corev1.ConfigMap, err error) (accepted *corev1.ConfigMap) {
		refused[configMap.Name] = true
		own := s.own[namespace][configMap.Name]
		s.rejectOwn(own, err)
		return own.accepted
	})
	for name, own := range s.own[namespace] {
		if !refused[name] {
			own.accepted = own.latest
		}
	}
	installation.own.Store(namespace, settings)
}

// rejectOwn reports an invalid config map of a namespace, each version once.
func (s *Store) rejectOwn(own *ownDefaults, err error) {
	configMap := own.latest
	if version := configMap.ResourceVersion; own.refused == version && version != "" {
		return
	}
	own.refused = configMap.ResourceVersion
	s.logger.Warnw("invalid defaults of a namespace are ignored", "configMap", configMap.Namespace+"/"+configMap.Name, "error", err)
	s.onReject(configMap, err)
}

// over returns the settings with the config maps of a namespace over them, in the order of their names. For an invalid one it calls invalid, and
// takes the config map that invalid returns; none if that is nil, or if the installation denies it by now.
func (c *Config) over(configMaps map[string]*corev1.ConfigMap, invalid func(*corev1.ConfigMap, error) (instead *corev1.ConfigMap)) *Config {
	settings := *c
	settings.own = nil
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		with, err := settings.with(configMaps[name])
		if err != nil {
			instead := invalid(configMaps[name], err)
			if instead == nil {
				continue
			}
			if with, err = settings.with(instead); err != nil {
				continue
			}
		}
		settings = with
	}
	return &settings
}

// with returns the settings with a config map of a namespace over them.
func (c *Config) with(configMap *corev1.ConfigMap) (Config, error) {
	settings := *c
	err := overlays[configMap.Name](configMap, &settings)
	return settings, err
}

// CheckOwn returns why the defaults in a config map of a namespace are invalid; nil if they are not, or if it holds none.
func (c *Config) CheckOwn(configMap *corev1.ConfigMap) error {
	if overlays[configMap.Name] == nil || configMap.Labels[LabelOwnDefaults] != ownDefaultsEnabled {
		return nil
	}
	_, err := c.with(configMap)
	return err
}

// ownDefaultsEnabled is the value of LabelOwnDefaults.
const ownDefaultsEnabled = "enabled"

// ownDefaultsSelector selects the config maps by their label.
const ownDefaultsSelector = LabelOwnDefaults + "=" + ownDefaultsEnabled
