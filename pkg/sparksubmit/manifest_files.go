package sparksubmit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// filePlace is a field of an application that names files.
type filePlace struct {
	path []string
	// main reports whether it names the application file.
	main bool
}

// filePlaces are such fields within the spec of an application, by the group of its API.
var filePlaces = map[string][]filePlace{
	"spark.apache.org": {
		{[]string{"jars"}, true}, {[]string{"pyFiles"}, true}, {[]string{"sparkRFiles"}, true}, {[]string{"files"}, false},
	},
	"sparkoperator.k8s.io": {
		{[]string{"mainApplicationFile"}, true}, {[]string{"deps", "jars"}, false}, {[]string{"deps", "files"}, false},
		{[]string{"deps", "archives"}, false}, {[]string{"deps", "pyFiles"}, false}, {[]string{"deps", "pyfiles"}, false},
	},
	"spark-operator.k8s.io": {
		{[]string{"mainApplicationFile"}, true}, {[]string{"deps", "jars"}, false}, {[]string{"deps", "jarFiles"}, false},
		{[]string{"deps", "files"}, false}, {[]string{"deps", "pyFiles"}, false},
	},
}

// specOf returns the spec of an application, or that in the template of a schedule, with its path and its fields that name files.
func specOf(manifest Object) (spec map[string]any, path string, places []filePlace) {
	version, _ := manifest["apiVersion"].(string)
	group, _, _ := strings.Cut(version, "/")
	way := []string{"spec"}
	if manifest["kind"] == "ScheduledSparkApplication" {
		way = append(way, "template")
		if group == "firesteel.dev" {
			way, group = append(way, "spec"), "spark.apache.org"
		}
	}
	spec, _ = within(manifest, way...)
	return spec, strings.Join(way, "."), filePlaces[group]
}

// within returns an object in an object.
func within(object map[string]any, way ...string) (map[string]any, bool) {
	for _, name := range way {
		next, ok := object[name].(map[string]any)
		if !ok {
			return nil, false
		}
		object = next
	}
	return object, true
}

// eachFile calls a function for each file that a manifest names, and puts what it returns in the place of the file. What is no text stays.
func eachFile(manifest Object, replace func(field, item string, main bool) []string) {
	spec, path, places := specOf(manifest)
	if spec == nil {
		return
	}
	for _, place := range places {
		last := len(place.path) - 1
		parent, ok := within(spec, place.path[:last]...)
		if !ok {
			continue
		}
		name, field := place.path[last], path+"."+strings.Join(place.path, ".")
		switch value := parent[name].(type) {
		case string:
			parent[name] = eachItem(value, func(item string) []string { return replace(field, item, place.main) })
		case []any:
			var list []any
			for i, entry := range value {
				item, isText := entry.(string)
				if !isText {
					list = append(list, entry)
					continue
				}
				for _, replaced := range replace(fmt.Sprintf("%s[%d]", field, i), item, place.main) {
					list = append(list, replaced)
				}
			}
			parent[name] = list
		}
	}
	conf, _ := within(spec, "sparkConf")
	for _, key := range fileLists {
		if value, isText := conf[key].(string); isText {
			conf[key] = eachItem(value, func(item string) []string { return replace(finding.Entry(path+".sparkConf", key), item, false) })
		}
	}
}

// eachItem replaces the items of a list in a text. A list of which no item is replaced stays as it is written.
func eachItem(list string, replace func(item string) []string) string {
	var all []string
	for item := range items(list) {
		all = append(all, replace(item)...)
	}
	if slices.Equal(all, slices.Collect(items(list))) {
		return list
	}
	return strings.Join(all, ",")
}

// ManifestFiles returns the files of this machine that the driver of a manifest is to read.
func ManifestFiles(manifest Object) []LocalFile {
	var all []LocalFile
	eachFile(manifest, func(field, item string, main bool) []string {
		if item != submission.NoResource && submission.IsClientLocal(item) {
			path, _ := localPathOf(item)
			ofImage := main && KindOf(item) == submission.R && strings.HasPrefix(item, "/")
			all = append(all, LocalFile{Field: field, Written: item, Path: path, Pattern: !main, OfImage: ofImage})
		}
		return []string{item}
	})
	return all
}

// MoveManifestFiles replaces the local files of a manifest by the URLs by which the driver reads them. urls has the URLs by path.
func MoveManifestFiles(manifest Object, urls map[string][]string) {
	eachFile(manifest, func(_, item string, _ bool) []string { return moved(item, urls) })
}

// ManifestProperties returns the Spark properties of a manifest that are texts.
func ManifestProperties(manifest Object) map[string]string {
	spec, _, _ := specOf(manifest)
	conf, _ := within(spec, "sparkConf")
	properties := map[string]string{}
	for key, value := range conf {
		if text, isText := value.(string); isText {
			properties[key] = text
		}
	}
	return properties
}
