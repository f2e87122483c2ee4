package submission

import (
	"regexp"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

const (
	clientLocalProblem = "is a file of the submitting host, which an operator cannot read"
	// ClientLocalRemedy is the remedy if the driver is to read a file of the submitting host.
	ClientLocalRemedy = "write local:///path for a file in the image, or put it where the driver can fetch it, such as s3a://"
)

var (
	uriScheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	// javaURI matches what Java's URI accepts. Spark reads all other texts as paths of files.
	javaURI = lazy.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*:(?://\[[0-9A-Fa-f:.]+\])?` + uriText + `+(?:#` + uriText + `*)?$`)
)

const uriText = `(?:[\w\-!.~'()*;/?:@&=+$,]|[^\x00-\x{9f}\p{Z}]|%[0-9A-Fa-f]{2})`

// checkRemote refuses what spark-submit would upload from its own host.
func (c *conf) checkRemote(field, uri string) {
	switch {
	case IsClientLocal(uri):
		c.refuse(field, uri, clientLocalProblem, ClientLocalRemedy)
	case !javaURI().MatchString(uri):
		c.refuse(field, uri, "is no URI", "escape the characters that a URI cannot hold, such as a blank as %20")
	}
}

// checkScheme refuses schemes for which Hadoop has no file system, in spark-submit and in the driver alike. Both distinguish
// upper and lower case.
func (c *conf) checkScheme(field, uri string) {
	scheme := uriScheme.FindStringSubmatch(uri)
	if scheme != nil && !IsClientLocal(uri) && scheme[1] != strings.ToLower(scheme[1]) {
		c.refuse(field, uri, "has a scheme in capitals, for which Spark finds no file system", "write "+strings.ToLower(scheme[1])+":")
	}
}

// IsClientLocal reports whether spark-submit would look for the file on its own host.
func IsClientLocal(uri string) bool {
	scheme := uriScheme.FindStringSubmatch(uri)
	return scheme == nil || strings.EqualFold(scheme[1], "file")
}
