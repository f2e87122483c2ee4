package config

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// EventLogFolder is the folder of an archive into which drivers write their event logs. No namespace has such a name.
const EventLogFolder = "_eventlog"

// eventLogKeys returns the readers of the keys about event logs.
func (a *Archive) eventLogKeys() Keys {
	sidecar := &a.EventLogs.Sidecar
	return Keys{
		"event-logs": func(key, value string) error {
			var ok bool
			if a.EventLogs.Mode, ok = dialect.ParseEventLogs(value); !ok {
				return InvalidValue(key, value, "write off, image or sidecar")
			}
			return nil
		},
		"event-logs-image": func(key, value string) error {
			sidecar.Image = strings.TrimSpace(value)
			if len(sidecar.Image) > maxImage || strings.ContainsAny(sidecar.Image, " \t\n") {
				return InvalidValue(key, value, "write the image of cmd/archive")
			}
			return nil
		},
		"event-logs-service": func(key, value string) error {
			text := strings.TrimSpace(value)
			service, err := url.Parse(text)
			if err != nil || len(text) > maxServiceURL || strings.ContainsAny(text, " \t\n\r") || service.Scheme != "http" && service.Scheme != "https" || service.Host == "" || service.User != nil ||
				service.RawQuery != "" || service.Fragment != "" {
				return InvalidValue(key, value, "write a URL such as https://archive.firesteel-system.svc")
			}
			sidecar.Service = service.String()
			return nil
		},
		"event-logs-ca": func(key, value string) error {
			sidecar.CA = strings.TrimSpace(value)
			if len(sidecar.CA) > maxAuthorities || sidecar.CA != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(sidecar.CA)) {
				return InvalidValue(key, value, "write certificates in PEM, of at most 64 KiB")
			}
			return nil
		},
		"event-logs-resources": func(key, value string) error {
			const remedy = "write requests and limits, such as {requests: {memory: 48Mi}, limits: {memory: 128Mi}}"
			sidecar.Resources = corev1.ResourceRequirements{}
			if err := yamlValue(remedy, &sidecar.Resources)(key, value); err != nil {
				return err
			}
			return checkResources(key, value, remedy, sidecar.Resources)
		},
		"event-logs-volume": func(key, value string) error {
			var bytes int64
			if err := byteCount(&bytes, minEventLogVolume)(key, value); err != nil {
				return InvalidValue(key, value, "write a size of at least 64Mi, such as 1Gi")
			}
			sidecar.VolumeSize = *resource.NewQuantity(bytes, resource.BinarySI)
			return nil
		},
	}
}

const (
	maxImage, maxServiceURL = 1024, 1024
	maxAuthorities          = 64 << 10
	// minEventLogVolume has room for some files of an event log.
	minEventLogVolume = 64 << 20
)

// defaultSidecar returns the sidecar of an installation in a namespace, without image.
func defaultSidecar(namespace string) submission.EventLogSidecar {
	list := func(memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	}
	resources := corev1.ResourceRequirements{Requests: list("48Mi"), Limits: list("128Mi")}
	resources.Requests[corev1.ResourceCPU] = resource.MustParse("10m")
	return submission.EventLogSidecar{
		Service: "http://archive." + cmp.Or(namespace, "firesteel-system") + ".svc", Resources: resources, VolumeSize: resource.MustParse("1Gi"),
	}
}

// checkResources returns an error for resources that no container can have.
func checkResources(key, value, remedy string, resources corev1.ResourceRequirements) error {
	for name, limit := range resources.Limits {
		if request, ok := resources.Requests[name]; ok && request.Cmp(limit) > 0 {
			return InvalidValue(key, value, fmt.Sprintf("request no more %s than the limit", name))
		}
	}
	for _, list := range []corev1.ResourceList{resources.Requests, resources.Limits} {
		for name, amount := range list {
			if amount.Sign() < 0 || name == "" {
				return InvalidValue(key, value, remedy)
			}
		}
	}
	if len(resources.Claims) > 0 {
		return InvalidValue(key, value, remedy)
	}
	return nil
}

// checkEventLogs finds out where event logs can be archived.
func (a *Archive) checkEventLogs() error {
	if a.EventLogs.Mode == dialect.EventLogsSidecar && a.EventLogs.Sidecar.Image == "" {
		return fmt.Errorf("%s: %w", ArchiveName, InvalidValue("event-logs", string(a.EventLogs.Mode), "set event-logs-image as well: config/archive-service does"))
	}
	a.EventLogs.AllArchived, a.EventLogs.Archived = a.url != "", map[string]bool{}
	for namespace := range a.namespaces {
		a.EventLogs.Archived[namespace] = true
	}
	return a.findEventLogFolders()
}

// findEventLogFolders finds the folder of each namespace that has an archive for itself. The drivers of a namespace write with its own credentials,
// so in an archive of two each could read and overwrite the logs of the other.
func (a *Archive) findEventLogFolders() error {
	a.EventLogs.Folders = map[string]string{}
	owners := map[string][]string{}
	if shared, problem := hadoopFolder(a.url); problem == "" {
		owners[shared] = []string{""} // of all other namespaces
	}
	for _, namespace := range slices.Sorted(maps.Keys(a.namespaces)) {
		folder, problem := hadoopFolder(a.namespaces[namespace])
		if problem != "" && a.EventLogs.Mode == dialect.EventLogsImage {
			return fmt.Errorf("%s: %w", ArchiveName, InvalidValue("namespaces: "+namespace, a.namespaces[namespace], problem))
		}
		owners[folder] = append(owners[folder], namespace)
	}
	for folder, namespaces := range owners {
		if folder != "" && len(namespaces) == 1 && namespaces[0] != "" {
			a.EventLogs.Folders[namespaces[0]] = folder
		}
	}
	return nil
}

// EventLogArchives returns the archives in which drivers may write event logs, by their namespaces.
func (a *Archive) EventLogArchives() map[string]string {
	archives := map[string]string{}
	for namespace := range a.EventLogs.Folders {
		archives[namespace] = a.namespaces[namespace]
	}
	return archives
}

// hadoopFolder returns the folder of event logs in an archive, as a URL of the file system of Hadoop that reads this storage. It is empty for a
// folder of a volume, which drivers do not have. If the folder is not known, hadoopFolder returns the remedy.
func hadoopFolder(address string) (folder, remedy string) {
	parsed, err := url.Parse(address)
	if err != nil {
		return "", "write a URL"
	}
	place := path.Join("/", parsed.Path)
	if strings.TrimSuffix(parsed.Path, "/") != strings.TrimSuffix(place, "/") {
		return "", "write the folder without empty parts, . and .."
	}
	hadoop := url.URL{Host: parsed.Host, Path: path.Join(place, EventLogFolder)}
	switch parsed.Scheme {
	case "s3":
		hadoop.Scheme = "s3a"
	case "gs":
		hadoop.Scheme = "gs"
	case "azblob":
		account := parsed.Query().Get("storage_account")
		if account == "" {
			return "", "add the account: azblob://CONTAINER/FOLDER?storage_account=ACCOUNT"
		}
		hadoop.Scheme, hadoop.User, hadoop.Host = "abfss", url.User(parsed.Host), account+".dfs.core.windows.net"
	default:
		return "", ""
	}
	return hadoop.String(), ""
}
