package sparksubmit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Located returns findings about the manifest of the submission with options in the place of fields.
func (s *Submission) Located(found finding.List) finding.List {
	located := slices.Clone(found)
	for i := range located {
		f := &located[i]
		f.Field = s.optionFor(f.Field)
		if remedy, _, found := strings.Cut(f.Remedy, dialect.WriteTemplate); found { // a command line has no such field
			f.Remedy = remedy + "name a file of this machine"
		}
		if origin, set := s.origins[f.Property]; set {
			f.Field, f.Property = origin, ""
		}
	}
	return located
}

// optionsOfFields are the options by the field of the manifest that they set.
var optionsOfFields = map[string]string{
	"spec.mainClass": optionClass, "spec.proxyUser": optionProxyUser, "metadata.name": optionName,
	"spec.image": optionConf + " " + imageKey, "spec.driver.image": optionConf + " " + imageKey,
	"spec.driver.serviceAccount":   optionConf + " spark.kubernetes.authenticate.driver.serviceAccountName",
	"spec.executor.serviceAccount": optionConf + " spark.kubernetes.authenticate.executor.serviceAccountName",
	"spec.jars":                    theFile, "spec.pyFiles": theFile, "spec.sparkRFiles": theFile, "spec.mainApplicationFile": theFile,
}

const theFile = "the application file"

// optionFor returns the option with which the user set a field, or can set it; the field itself if there is none.
func (s *Submission) optionFor(field string) string {
	if key, isProperty := strings.CutPrefix(field, "spec.sparkConf["); isProperty {
		key = strings.TrimSuffix(key, "]")
		return cmp.Or(s.origins[key], optionConf+" "+key)
	}
	return cmp.Or(optionsOfFields[field], field)
}
