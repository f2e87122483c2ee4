package history

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// SentID returns the ID of the event log of an attempt whose sidecar sent it to the archive.
func SentID(log archive.EventLog) string {
	return newID(log.ID.Namespace.Name, placeOf(log))
}

// WrittenIDs returns the IDs that the event log of a run may have if its driver wrote it into the archive of its namespace: in a folder, or as one file.
func WrittenIDs(namespace, applicationID string) []string {
	name := fileName(applicationID)
	return []string{newID(namespace, rolledPrefix+name), newID(namespace, name)}
}

// fileName returns the ID of an application as Spark writes it in the names of files.
func fileName(applicationID string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(" :/", r):
			return '-'
		case strings.ContainsRune(`.${}'"`, r):
			return '_'
		default:
			return r
		}
	}, applicationID))
}

// newID returns the ID of a log: its namespace, and a hash of its namespace and place. Nobody finds another place with the same hash: it has 80 bits.
func newID(namespace, place string) string {
	const bytes = 10
	hash := sha256.Sum256([]byte(namespace + "\n" + place))
	return namespace + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(hash[:bytes]))
}
