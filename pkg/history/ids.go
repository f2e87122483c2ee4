package history

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// SentID returns the ID of the event log of an attempt whose sidecar sent it to the archive. It says of which namespace the log is: another one that had
// the name before has another uid.
func SentID(log archive.EventLog) string {
	return log.ID.Namespace.Name + "-" + digest(ownerBytes, string(log.ID.Namespace.UID)) + digest(placeBytes, log.ID.Namespace.Name, placeOf(log))
}

// WrittenIDs returns the IDs that the event log of a run may have if its driver wrote it into the archive of its namespace: in a folder, or as one file.
func WrittenIDs(namespace, applicationID string) []string {
	name := fileName(applicationID)
	return []string{newID(namespace, rolledPrefix+name), newID(namespace, name)}
}

// NamespaceOf returns the namespace of an ID, and whether it may be one of the namespace with a uid. The uid of a log that a driver wrote is not known.
func NamespaceOf(id string) (namespace string, is func(uid types.UID) bool) {
	at := max(strings.LastIndexByte(id, '-'), 0)
	owner, isSent := id[min(at+1, len(id)):], len(id)-at-1 == ownerDigits+placeDigits
	return id[:at], func(uid types.UID) bool { return !isSent || strings.HasPrefix(owner, digest(ownerBytes, string(uid))) }
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

// newID returns the ID of a log that a driver wrote: its namespace, and a hash of its namespace and place. Nobody finds another place with the same
// hash: it has 80 bits.
func newID(namespace, place string) string {
	return namespace + "-" + digest(placeBytes, namespace, place)
}

// The bytes of the parts of an ID, and their digits.
const (
	ownerBytes, ownerDigits = 5, 8
	placeBytes, placeDigits = 10, 16
)

// digest returns the beginning of a hash of some texts without line breaks.
func digest(size int, texts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(hash[:size]))
}
