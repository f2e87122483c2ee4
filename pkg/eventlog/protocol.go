package eventlog

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

const (
	// Audience is the audience of the tokens with which event logs are sent. They are good for nothing else.
	Audience = "firesteel.dev/event-logs"
	// AttemptAnnotation is the annotation of a driver Pod with the number of its attempt.
	AttemptAnnotation = "firesteel.dev/event-log-attempt"
	// Container is the name of the sidecar in a driver Pod.
	Container = "firesteel-event-logs"
	// FilesPath is the path of the service. GET returns Files, and PUT of FilesPath/NAME?offset=NUMBER stores a part and returns a File.
	FilesPath = "/event-log/v1/files"
	// OffsetParameter is the parameter of a PUT that says where the part begins.
	OffsetParameter = "offset"
	// MaxPart is the largest part, in bytes.
	MaxPart = 512 << 10
	// MaxFiles bounds the files of an event log.
	MaxFiles = 4096
)

// Files is what is stored of an event log.
type Files struct {
	Files []File `json:"files"`
}

// File is a file of an event log, as it is stored.
type File struct {
	Name string `json:"name"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// Part is where its last part begins. That part may be sent again, with more in it.
	Part int64 `json:"part"`
}

// Names of Spark's files in a rolling event log.
const (
	// FolderPrefix begins the name of the folder.
	FolderPrefix     = "eventlog_v2_"
	statusPrefix     = "appstatus_"
	inProgressSuffix = ".inprogress"
)

// maxName is the longest part of a name that is the application's ID.
const maxName = 200

var names = lazy.Regexp(fmt.Sprintf(`^(events_([1-9][0-9]{0,8})_[0-9A-Za-z_-]{1,%d}|%s[0-9A-Za-z_-]{1,%d}(\%s)?)$`, maxName, statusPrefix, maxName, inProgressSuffix))

// CheckName returns an error for a name that no file of an uncompressed rolling event log has.
func CheckName(name string) error {
	if !names().MatchString(name) {
		return fmt.Errorf("%q is no file of an uncompressed rolling event log of Spark: its files are events_NUMBER_ID, appstatus_ID%s and appstatus_ID",
			name[:min(len(name), maxName)], inProgressSuffix)
	}
	return nil
}

// Index returns the number of a file of events, and 0 for a status. The name is a valid one.
func Index(name string) int {
	if match := names().FindStringSubmatch(name); match != nil && match[2] != "" {
		index, _ := strconv.Atoi(match[2]) // it has at most nine digits
		return index
	}
	return 0
}

// IsFinal reports whether a file is the status of an application that has ended. It is sent last.
func IsFinal(name string) bool {
	return strings.HasPrefix(name, statusPrefix) && !strings.HasSuffix(name, inProgressSuffix)
}

// Compare orders files as they are sent: the status of a running application, its events, the status of an ended one.
func Compare(a, b string) int {
	rank := func(name string) int {
		switch {
		case Index(name) > 0:
			return 1
		case IsFinal(name):
			return 2
		default:
			return 0
		}
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(Index(a), Index(b)), cmp.Compare(a, b))
}
