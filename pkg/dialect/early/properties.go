package early

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// renamed holds the properties that have another name today.
var renamed = map[string]string{
	"spark.kubernetes.driver.docker.image":     "spark.kubernetes.driver.container.image",
	"spark.kubernetes.executor.docker.image":   "spark.kubernetes.executor.container.image",
	"spark.kubernetes.docker.image.pullPolicy": "spark.kubernetes.container.image.pullPolicy",
	"spark.kubernetes.driver.memoryOverhead":   "spark.driver.memoryOverhead",
	"spark.kubernetes.executor.memoryOverhead": "spark.executor.memoryOverhead",
}

// listed holds the properties that are lists of key=value, with the prefix of today's property for each entry.
var listed = map[string]string{
	"spark.kubernetes.driver.labels":        "spark.kubernetes.driver.label.",
	"spark.kubernetes.executor.labels":      "spark.kubernetes.executor.label.",
	"spark.kubernetes.driver.annotations":   "spark.kubernetes.driver.annotation.",
	"spark.kubernetes.executor.annotations": "spark.kubernetes.executor.annotation.",
}

const (
	batchDelayKey      = "spark.kubernetes.allocation.batch.delay"
	shuffleServiceKey  = "spark.shuffle.service.enabled"
	shufflePrefix      = "spark.kubernetes.shuffle."
	shuffleTrackingKey = "spark.dynamicAllocation.shuffleTracking.enabled"
	kerberosPrefix     = "spark.kubernetes.kerberos."
)

// stagingServer are the prefixes of the properties of the server that took files from the user's machine.
var stagingServer = []string{"spark.kubernetes.resourceStagingServer.", "spark.ssl.kubernetes.resourceStagingServer."}

// obsolete is a group of properties that have no effect today.
type obsolete struct {
	// prefixes begin the keys. One that does not end with a period is a key.
	prefixes    []string
	why, remedy string
}

var obsoletes = []obsolete{
	{
		[]string{"spark.kubernetes.initcontainer.", "spark.kubernetes.initContainer."},
		"has no effect, no Spark since 2.4 has an init container that downloads", "leave it out: the driver and executors fetch by themselves",
	},
	{
		[]string{"spark.kubernetes.mountdependencies.", "spark.kubernetes.mountDependencies."},
		"has no effect, files are in the working directory of the driver",
		"leave it out, and open files by SparkFiles.get instead of a path below /var/spark-data",
	},
	{
		stagingServer,
		"has no effect, no Spark since 2.3 has that server", "leave it out, and upload files by kubectl spark submit --upload-to",
	},
	{
		[]string{"spark.kubernetes.driver.hdfslocality."},
		"has no effect, it was of a fork of Spark", "leave it out",
	},
	{
		[]string{"spark.kubernetes.authenticate.submission.", "spark.kubernetes.submission.", "spark.kubernetes.report.interval", "spark.kubernetes.context"},
		"has no effect, it is for a client that submits, and Firesteel submits without one", "leave it out",
	},
}

// setProperties translates the properties of a spec.
func (t *translation) setProperties(spec v1alpha1.SparkApplicationSpec) {
	conf := map[string]string{}
	t.app.Spec.SparkConf = conf
	var old []string
	for _, key := range slices.Sorted(maps.Keys(spec.SparkConf)) {
		if isOld(key) {
			old = append(old, key)
		} else {
			conf[key] = spec.SparkConf[key]
		}
	}
	for _, key := range old {
		t.setOld(key, spec.SparkConf[key])
	}
	t.refuseStaged(spec)
	t.dropShuffleService(spec.SparkConf)
	t.setBatchDelay()
	t.takeAccount(driverAccountKey, "spec.driver.serviceAccount", &t.app.Spec.Driver.ServiceAccount)
	t.takeAccount(executorAccountKey, "spec.executor.serviceAccount", &t.app.Spec.Executor.ServiceAccount)
}

// isOld reports whether a property is translated or dropped.
func isOld(key string) bool {
	_, isRenamed := renamed[key]
	prefix, _ := annotationPrefix(key)
	return isRenamed || listed[key] != "" || prefix != "" || obsoleteOf(key) != nil || strings.HasPrefix(key, shufflePrefix) || isOldKerberos(key)
}

// annotationPrefix returns today's prefix of a property for one annotation in the seed's spelling, and the key of the annotation.
func annotationPrefix(key string) (prefix, annotation string) {
	for _, role := range []string{"driver", "executor"} {
		if annotation, ok := strings.CutPrefix(key, "spark.kubernetes."+role+".annotations."); ok {
			return "spark.kubernetes." + role + ".annotation.", annotation
		}
	}
	return "", ""
}

// isOldKerberos reports whether a property for Kerberos is of a fork of Spark. Today's have these prefixes, too.
func isOldKerberos(key string) bool {
	name, ok := strings.CutPrefix(key, kerberosPrefix)
	return ok && !strings.HasPrefix(name, "krb5.") && !strings.HasPrefix(name, "tokenSecret.")
}

func obsoleteOf(key string) *obsolete {
	for i := range obsoletes {
		for _, prefix := range obsoletes[i].prefixes {
			if key == prefix || strings.HasSuffix(prefix, ".") && strings.HasPrefix(key, prefix) {
				return &obsoletes[i]
			}
		}
	}
	return nil
}

// setOld translates one property, or warns that it has no effect.
func (t *translation) setOld(key, value string) {
	prefix, annotation := annotationPrefix(key)
	switch {
	case renamed[key] != "":
		t.rename(key, renamed[key], value)
	case prefix != "":
		t.rename(key, prefix+annotation, value)
	case listed[key] != "":
		t.setListed(key, value)
	case isOldKerberos(key):
		t.warnOfProperty(key, "has no effect, it was of a fork of Spark",
			"write spark.kerberos.principal, spark.kerberos.keytab or spark.kubernetes.kerberos.krb5.configMapName")
	case obsoleteOf(key) != nil:
		t.warnOfProperty(key, obsoleteOf(key).why, obsoleteOf(key).remedy)
	}
}

// rename sets today's property, unless the user sets it.
func (t *translation) rename(old, today, value string) {
	if _, set := t.app.Spec.SparkConf[today]; set {
		t.warnOfProperty(old, "has no effect beside "+today+", which is its name today", "leave it out")
		return
	}
	t.app.Spec.SparkConf[today] = value
	t.spellings[finding.Entry(confField, today)] = finding.Entry(confField, old)
}

// setListed sets a property for each entry of a list.
func (t *translation) setListed(key, value string) {
	for _, entry := range strings.Split(value, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(entry), "=")
		switch {
		case strings.TrimSpace(entry) == "":
		case !ok || name == "":
			t.warnOfProperty(key, fmt.Sprintf("has the entry %.64q, which is not key=value and has no effect", entry), "correct it")
		default:
			t.rename(key, listed[key]+name, text)
		}
	}
}

// refuseStaged refuses files of the user's machine that the staging server would have taken.
func (t *translation) refuseStaged(spec v1alpha1.SparkApplicationSpec) {
	staged := slices.ContainsFunc(slices.Collect(maps.Keys(spec.SparkConf)), func(key string) bool {
		return slices.ContainsFunc(stagingServer, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
	if !staged {
		return
	}
	refuse := func(field, uri string) {
		if uri == "" || uri == "spark-internal" || strings.Contains(uri, ":") && !strings.HasPrefix(uri, "file:") {
			return
		}
		found := finding.List{{
			Reason: "LocalFile", Field: field, Value: uri, Message: "is on your machine, and there is no staging server any more",
			Remedy: "upload it by kubectl spark submit --upload-to, or write local: before it if it is in the image",
		}}
		t.refused.Add(t.spellings.of(found)...)
	}
	refuse("spec.mainApplicationFile", spec.MainApplicationFile)
	for _, list := range []struct {
		field string
		uris  []string
	}{{"spec.deps.jars", spec.Deps.Jars}, {"spec.deps.files", spec.Deps.Files}, {"spec.deps.pyFiles", spec.Deps.PyFiles}} {
		for i, uri := range list.uris {
			refuse(fmt.Sprintf("%s[%d]", list.field, i), uri)
		}
	}
}

// dropShuffleService drops the external shuffle service of the fork, with which executors would fail to register. Without a property that
// is about that service, the user may mean another one.
func (t *translation) dropShuffleService(given map[string]string) {
	conf := t.app.Spec.SparkConf
	old := slices.DeleteFunc(slices.Sorted(maps.Keys(given)), func(key string) bool { return !strings.HasPrefix(key, shufflePrefix) })
	if len(old) == 0 {
		return
	}
	const why = "has no effect, Spark on Kubernetes has no external shuffle service"
	if strings.EqualFold(strings.TrimSpace(conf[shuffleServiceKey]), "true") {
		delete(conf, shuffleServiceKey)
		if _, set := conf[shuffleTrackingKey]; !set {
			conf[shuffleTrackingKey] = "true"
		}
		old = append([]string{shuffleServiceKey}, old...)
	}
	for _, key := range old {
		t.warnOfProperty(key, why, "leave it out; "+shuffleTrackingKey+" is in its place")
	}
}

// setBatchDelay keeps the unit of a number that was of seconds: Spark takes it for milliseconds today.
func (t *translation) setBatchDelay() {
	value := strings.TrimSpace(t.app.Spec.SparkConf[batchDelayKey])
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return
	}
	t.app.Spec.SparkConf[batchDelayKey] = value + "s"
	t.warnings.Warn(finding.Entry(confField, batchDelayKey), value, "is taken for seconds, as in Spark of 2017, and today's Spark takes it for milliseconds",
		"write the unit")
}

// takeAccount moves a service account from its property into the field that the translated application has for it.
func (t *translation) takeAccount(key, field string, account *string) {
	if name := t.app.Spec.SparkConf[key]; name != "" {
		*account = name
		delete(t.app.Spec.SparkConf, key)
		t.spellings[field] = finding.Entry(confField, key)
	}
}

// propertyPath returns the path that the user wrote for a property.
func (t *translation) propertyPath(key string) string {
	path := finding.Entry(confField, key)
	if given := t.spellings[path]; given != "" {
		return given
	}
	return path
}

func (t *translation) warnOfProperty(key, why, remedy string) {
	t.warnings.Warn(finding.Entry(confField, key), nil, why, remedy)
}
