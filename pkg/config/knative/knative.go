// Package knative checks the config maps that Knative reads: logging, leader election and observability.
package knative

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	o11yconfigmap "knative.dev/pkg/observability/configmap"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

// checks holds a check for each config map that Knative reads. Knative's own errors say less, and some appear only at the next start of
// the process.
var checks = map[string]func(*corev1.ConfigMap) error{
	logging.ConfigMapName():        checkLogging,
	leaderelection.ConfigMapName(): checkLeaderElection,
	o11yconfigmap.Name():           checkObservability,
}

// Check checks the config maps that Knative reads. It ignores a config map that cannot be read, since Knative reports that.
func Check(ctx context.Context, configMaps interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.ConfigMap, error)
},
) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if configMap, err := configMaps.Get(ctx, name, metav1.GetOptions{}); err == nil {
			errs = append(errs, checks[name](configMap))
		}
	}
	return errors.Join(errs...)
}

// CheckOne checks a config map if it is one that Knative reads.
func CheckOne(configMap *corev1.ConfigMap) error {
	check, ok := checks[configMap.Name]
	if !ok {
		return nil
	}
	return check(configMap)
}

// Watch calls onReject for each invalid change of these config maps.
func Watch(watcher configmap.Watcher, onReject func(*corev1.ConfigMap, error)) {
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		watcher.Watch(name, func(configMap *corev1.ConfigMap) {
			if err := checks[name](configMap); err != nil {
				onReject(configMap, err)
			}
		})
	}
}

func checkLogging(configMap *corev1.ConfigMap) error {
	return config.Keys{
		"zap-logger-config": func(key, value string) error {
			if err := json.Unmarshal([]byte(value), &zap.Config{}); err != nil {
				return config.InvalidValue(key, value, fmt.Sprintf("write zap's configuration in JSON (%v)", err))
			}
			return nil
		},
		"loglevel.controller": func(key, value string) error {
			if _, err := zapcore.ParseLevel(value); err != nil {
				return config.InvalidValue(key, value, "write debug, info, warn or error")
			}
			return nil
		},
	}.Read(logging.ConfigMapName(), configMap)
}

func checkLeaderElection(configMap *corev1.ConfigMap) error {
	// These are Knative's defaults.
	lease, renew, retry := time.Minute, 40*time.Second, 10*time.Second
	err := config.Keys{
		"lease-duration": duration(&lease),
		"renew-deadline": duration(&renew),
		"retry-period":   duration(&retry),
		"buckets": func(key, value string) error {
			if buckets, err := strconv.ParseUint(value, 10, 32); err != nil || buckets < 1 || buckets > uint64(leaderelection.MaxBuckets) {
				return config.InvalidValue(key, value, fmt.Sprintf("write a number from 1 to %d", leaderelection.MaxBuckets))
			}
			return nil
		},
		"map-lease-prefix.*": func(_, _ string) error { return nil },
	}.Read(leaderelection.ConfigMapName(), configMap)
	if err != nil {
		return err
	}
	if lease <= renew || float64(renew) <= 1.2*float64(retry) {
		return fmt.Errorf("%s: %w", leaderelection.ConfigMapName(), config.InvalidValue("lease-duration, renew-deadline, retry-period",
			fmt.Sprintf("%s, %s, %s", lease, renew, retry), "write each longer than the next, such as 15s, 10s, 2s"))
	}
	return nil
}

func checkObservability(configMap *corev1.ConfigMap) error {
	name, data := o11yconfigmap.Name(), configMap.Data
	var ignored time.Duration
	err := config.Keys{
		"metrics-protocol":        config.OneOf("none", "prometheus", "grpc", "http/protobuf"),
		"metrics-endpoint":        func(string, string) error { return nil },
		"metrics-export-interval": duration(&ignored),
		"tracing-protocol":        config.OneOf("none", "grpc", "http/protobuf", "stdout"),
		"tracing-endpoint":        func(string, string) error { return nil },
		"tracing-sampling-rate": func(key, value string) error {
			if rate, err := strconv.ParseFloat(value, 64); err != nil || rate < 0 || rate > 1 {
				return config.InvalidValue(key, value, "write a number from 0 to 1")
			}
			return nil
		},
		"runtime-profiling":       config.OneOf("enabled", "disabled"),
		"runtime-export-interval": duration(&ignored),
	}.Read(name, configMap)
	if err != nil {
		return err
	}
	for _, signal := range []string{"metrics", "tracing"} {
		if err := checkEndpoint(signal+"-endpoint", data[signal+"-endpoint"], data[signal+"-protocol"]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := o11yconfigmap.Parse(configMap); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkEndpoint checks that an endpoint fits its protocol.
func checkEndpoint(key, endpoint, protocol string) error {
	switch protocol {
	case "grpc", "http/protobuf":
		if endpoint == "" {
			return config.InvalidValue(key, endpoint, "write the URL to send to, which "+protocol+" needs")
		}
	case "prometheus":
		if _, _, err := net.SplitHostPort(endpoint); endpoint != "" && err != nil {
			return config.InvalidValue(key, endpoint, "write host:port to serve at, such as :9090")
		}
	default:
		if endpoint != "" {
			return config.InvalidValue(key, endpoint, "remove it, or write the protocol that needs it")
		}
	}
	return nil
}

func duration(into *time.Duration) func(key, value string) error {
	return func(key, value string) error {
		parsed, err := time.ParseDuration(value)
		if err != nil || parsed <= 0 {
			return config.InvalidValue(key, value, "write a time above zero with its unit, such as 15s")
		}
		*into = parsed
		return nil
	}
}
