package config

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// QuotaMode is what becomes of an application that does not fit into the quotas of its namespace.
type QuotaMode string

// The modes.
const (
	// QuotaOff compares nothing with the quotas: the API server refuses what does not fit.
	QuotaOff QuotaMode = "off"
	// QuotaHold holds the launch until there is room.
	QuotaHold QuotaMode = "hold"
	// QuotaFail fails the attempt at once.
	QuotaFail QuotaMode = "fail"
)

// QuotaSettings are the settings of config-admission about quotas.
type QuotaSettings struct {
	// Quota is what becomes of an application or a cluster that does not fit. Default: QuotaOff.
	Quota QuotaMode
	// QuotaOvertake is how long the head of the queue may be passed by smaller applications; zero lets none pass. Default: 10 minutes.
	QuotaOvertake time.Duration
	// QuotaHoldTimeout is how long a launch is held at most; zero, the default, means without a limit.
	QuotaHoldTimeout time.Duration
}

// Admission holds the settings of config-admission.
type Admission struct {
	QuotaSettings
	// Rules are the admin's rules that are on.
	Rules policy.Rules
}

// NewAdmission reads config-admission.
func NewAdmission(configMap *corev1.ConfigMap) (*Admission, error) {
	admission := Admission{QuotaSettings: QuotaSettings{Quota: QuotaOff, QuotaOvertake: 10 * time.Minute}, Rules: policy.Rules{}}
	keys := Keys{
		"quota": func(key, value string) error {
			admission.Quota = QuotaMode(strings.TrimSpace(value))
			return OneOf(string(QuotaOff), string(QuotaHold), string(QuotaFail))(key, string(admission.Quota))
		},
		"quota-overtake":     bound(&admission.QuotaOvertake, "to let none pass"),
		"quota-hold-timeout": timeLimit(&admission.QuotaHoldTimeout),
	}
	for i := range policy.Table {
		rule := &policy.Table[i]
		keys[rule.Key] = func(key, value string) error {
			if !admission.Rules.Set(rule, value) {
				return InvalidValue(key, value, rule.Remedy)
			}
			return nil
		}
	}
	if err := keys.Read(AdmissionName, configMap); err != nil {
		return nil, err
	}
	return &admission, nil
}

// OfApache returns the settings of the applications of spark.apache.org.
func (c *Config) OfApache() apache.Defaults {
	defaults := *c.Defaults
	defaults.EventLogs = c.Archive.EventLogs
	defaults.Rules = c.Admission.Rules
	return defaults
}

// OfKubeflow returns the settings of the applications of sparkoperator.k8s.io.
func (c *Config) OfKubeflow() settings.Defaults {
	defaults := c.Kubeflow.Defaults
	defaults.EventLogs = c.Archive.EventLogs
	defaults.Rules = c.Admission.Rules
	return defaults
}
