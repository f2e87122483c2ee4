package config

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// EventLogFolder is the folder of an archive into which drivers write their event logs. No namespace has such a name.
const EventLogFolder = "_eventlog"

func eventLogs(image *bool) func(key, value string) error {
	return func(key, value string) (err error) {
		var ok bool
		if *image, ok = dialect.ParseEventLogs(value); !ok {
			return InvalidValue(key, value, "write off or image")
		}
		return nil
	}
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
		if problem != "" && a.EventLogs.Image {
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
