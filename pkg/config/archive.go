package config

import (
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/archive/address"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// Archive holds the settings about what is stored of attempts that ended.
type Archive struct {
	// url is the archive of all namespaces that are not in namespaces; empty for none.
	url        string
	namespaces map[string]string
	// RetentionAge is how long an application is retained in the archive. Zero is no bound.
	RetentionAge time.Duration
	// RetentionBytes is how much is retained of a namespace. Zero is no bound.
	RetentionBytes int64
	// DriverLogs and ExecutorLogs say when logs are stored.
	DriverLogs, ExecutorLogs string
	// ClusterLogs says when logs of clusters are stored: LogsNone or LogsFollow.
	ClusterLogs string
	// MaxLogBytes bounds a log.
	MaxLogBytes int64
	// OpenStreams bounds the logs that are followed at once, and FlushInterval is how often what was read of them is stored.
	OpenStreams   int
	FlushInterval time.Duration

	// EventLogs is how Spark's event logs get into the archives.
	EventLogs dialect.EventLogs

	wait time.Duration
}

// When logs are stored.
const (
	LogsNone = "none"
	// LogsEnd stores at the end of an attempt what the node still has.
	LogsEnd = "end"
	// LogsFollow stores logs while containers run, and the rest at the end of an attempt.
	LogsFollow = "follow"
)

const (
	// maxArchiveNamespaces bounds the namespaces with an archive of their own, and maxArchiveWait what waits for the archive.
	maxArchiveNamespaces = 1000
	maxArchiveWait       = time.Hour
	// maxArchiveBytes bounds sizes.
	maxArchiveBytes = 1 << 60
	// maxOpenStreams bounds open-streams, and maxFlushInterval flush-interval.
	maxOpenStreams   = 1000
	maxFlushInterval = 10 * time.Minute
)

// NewArchive reads config-archive.
func NewArchive(configMap *corev1.ConfigMap) (*Archive, error) {
	archive := &Archive{
		DriverLogs: LogsEnd, ExecutorLogs: LogsEnd, ClusterLogs: LogsNone, MaxLogBytes: 1 << 30, OpenStreams: 50, FlushInterval: 10 * time.Second,
		wait: 2 * time.Minute,
	}
	archive.EventLogs.Sidecar = defaultSidecar(configMap.Namespace)
	keys := Keys{
		"url": func(key, value string) error {
			archive.url = strings.TrimSpace(value)
			if archive.url == "" {
				return nil
			}
			return checkArchiveURL(key, archive.url)
		},
		"namespaces":      archiveNamespaces(&archive.namespaces),
		"retention-age":   nonNegativeDuration(&archive.RetentionAge),
		"retention-bytes": byteCount(&archive.RetentionBytes, 0),
		"driver-logs":     logsWhen(&archive.DriverLogs, LogsNone, LogsEnd, LogsFollow),
		"executor-logs":   logsWhen(&archive.ExecutorLogs, LogsNone, LogsEnd, LogsFollow),
		"cluster-logs":    logsWhen(&archive.ClusterLogs, LogsNone, LogsFollow),
		"max-log-bytes":   byteCount(&archive.MaxLogBytes, 1),
		"open-streams": func(key, value string) error {
			count, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || count < 1 || count > maxOpenStreams {
				return InvalidValue(key, value, "write a number from 1 to 1000")
			}
			archive.OpenStreams = count
			return nil
		},
		"flush-interval": func(key, value string) error {
			if err := nonNegativeDuration(&archive.FlushInterval)(key, value); err != nil || archive.FlushInterval < time.Second || archive.FlushInterval > maxFlushInterval {
				return InvalidValue(key, value, "write a time from 1s to 10m, such as 10s")
			}
			return nil
		},
		"wait": func(key, value string) error {
			if err := nonNegativeDuration(&archive.wait)(key, value); err != nil || archive.wait < time.Second || archive.wait > maxArchiveWait {
				return InvalidValue(key, value, "write a time from 1s to 1h, such as 2m")
			}
			return nil
		},
	}
	maps.Copy(keys, archive.eventLogKeys())
	if err := keys.Read(ArchiveName, configMap); err != nil {
		return nil, err
	}
	return archive, archive.checkEventLogs()
}

func checkArchiveURL(key, value string) error {
	if err := address.Check(value); err != nil {
		return InvalidValue(key, value, err.Error())
	}
	return nil
}

// archiveNamespaces reads the archives of namespaces.
func archiveNamespaces(into *map[string]string) func(key, value string) error {
	const remedy = "write a namespace: url on each line"
	return func(key, value string) error {
		*into = nil
		if err := yamlValue(remedy, into)(key, value); err != nil {
			return err
		}
		if len(*into) > maxArchiveNamespaces {
			return InvalidValue(key, value, "write at most 1000 namespaces")
		}
		for namespace, url := range *into {
			if len(validation.IsDNS1123Label(namespace)) > 0 {
				return InvalidValue(key+": "+namespace, url, "write the name of a namespace before the colon")
			}
			if err := checkArchiveURL(key+": "+namespace, url); err != nil {
				return err
			}
		}
		return nil
	}
}

// byteCount reads a size such as 10Gi, of at least least bytes.
func byteCount(into *int64, least int64) func(key, value string) error {
	const longest = 32
	return func(key, value string) error {
		parsed, err := resource.ParseQuantity(strings.TrimSpace(value)[:min(len(strings.TrimSpace(value)), longest)])
		if err != nil || len(value) > longest || parsed.CmpInt64(least) < 0 || parsed.CmpInt64(maxArchiveBytes) > 0 {
			return InvalidValue(key, value, "write a size with its unit, such as 100Gi")
		}
		*into = parsed.Value()
		return nil
	}
}

func logsWhen(into *string, values ...string) func(key, value string) error {
	return func(key, value string) error {
		*into = value
		return OneOf(values...)(key, value)
	}
}

// URLOf returns the archive of a namespace; empty if it has none.
func (a *Archive) URLOf(namespace string) string {
	if url, ok := a.namespaces[namespace]; ok {
		return url
	}
	return a.url
}

// KeepsExecutors reports whether the Pods of executors in a namespace stay after their end, for their logs.
func (a *Archive) KeepsExecutors(namespace string) bool {
	return a.ExecutorLogs != LogsNone && a.URLOf(namespace) != ""
}

// URLs returns all archives, each with a function that selects its namespaces.
func (a *Archive) URLs() map[string]func(namespace string) bool {
	urls := map[string]func(string) bool{}
	add := func(url string) {
		urls[url] = func(namespace string) bool { return a.URLOf(namespace) == url }
	}
	if a.url != "" {
		add(a.url)
	}
	for _, url := range a.namespaces {
		add(url)
	}
	return urls
}

// WaitIn returns how long what follows an attempt in a namespace waits until the attempt is archived; zero if the namespace has no archive.
func (a *Archive) WaitIn(namespace string) time.Duration {
	if a.URLOf(namespace) == "" {
		return 0
	}
	return a.wait
}
