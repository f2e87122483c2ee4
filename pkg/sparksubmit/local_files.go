package sparksubmit

import (
	"cmp"
	"iter"
	"net/url"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// LocalFile is a file of this machine that the driver is to read.
type LocalFile struct {
	// Field is the option that names it, such as --jars.
	Field string
	// Written is what the user wrote.
	Written string
	Path    string
	// Pattern reports whether the path may be a pattern, such as lib/*.jar.
	Pattern bool
	// OfImage reports whether Spark reads it in the driver's image if it does not exist on this machine: R files with an absolute path.
	OfImage bool
}

// fileLists are the properties with lists of files that spark-submit uploads.
var fileLists = []string{jarsKey, filesKey, archivesKey, pyFilesKey}

// LocalFiles returns the files of this machine that the driver is to read: the application file, and files of --jars, --files, --archives and
// --py-files.
func (s *Submission) LocalFiles() []LocalFile {
	var all []LocalFile
	if s.Resource != submission.NoResource && submission.IsClientLocal(s.Resource) {
		path, _ := localPathOf(s.Resource)
		ofImage := KindOf(s.Resource) == submission.R && strings.HasPrefix(s.Resource, "/")
		all = append(all, LocalFile{Field: theFile, Written: s.Resource, Path: path, OfImage: ofImage})
	}
	for _, key := range fileLists {
		for item := range items(s.Properties[key]) {
			if submission.IsClientLocal(item) {
				path, _ := localPathOf(item)
				all = append(all, LocalFile{Field: cmp.Or(s.origins[key], key), Written: item, Path: path, Pattern: true})
			}
		}
	}
	return all
}

// items iterates over the items of a list in a property.
func items(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(list, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

// localPathOf returns the path of an item, and the # with the name that follows it.
func localPathOf(item string) (path, fragment string) {
	if at := strings.Index(item, "#"); at >= 0 {
		item, fragment = item[:at], item[at:]
	}
	path = localPath(item)
	if decoded, err := url.PathUnescape(path); err == nil && path != item {
		path = decoded // it was a URI
	}
	return path, fragment
}

// MoveFiles replaces local files by the URLs by which the driver reads them. urls has the URLs by path. The order of lists, and names after a #,
// stay. A file without a URL stays as it is.
func (s *Submission) MoveFiles(urls map[string][]string) {
	s.Resource = strings.Join(moved(s.Resource, urls), ",")
	for _, key := range fileLists {
		var list []string
		for item := range items(s.Properties[key]) {
			list = append(list, moved(item, urls)...)
		}
		if list != nil {
			s.Properties[key] = strings.Join(list, ",")
		}
	}
}

// moved returns the URLs that take the place of an item, or the item itself.
func moved(item string, urls map[string][]string) []string {
	if !submission.IsClientLocal(item) {
		return []string{item}
	}
	path, fragment := localPathOf(item)
	of := urls[path]
	if len(of) == 0 {
		return []string{item}
	}
	var all []string
	for _, address := range of {
		all = append(all, address+fragment)
	}
	return all
}
