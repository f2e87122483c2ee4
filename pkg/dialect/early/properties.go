package early

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	batchDelayKey      = "spark.kubernetes.allocation.batch.delay"
	shuffleServiceKey  = "spark.shuffle.service.enabled"
	shufflePrefix      = "spark.kubernetes.shuffle."
	shuffleTrackingKey = "spark.dynamicAllocation.shuffleTracking.enabled"
	kerberosPrefix     = "spark.kubernetes.kerberos."
)

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
	t.dropLabels()
	t.refuseStaged(spec)
	t.dropShuffleService(spec.SparkConf)
	t.setBatchDelay()
	t.takeAccount(policy.DriverAccountKey, "spec.driver.serviceAccount", &t.app.Spec.Driver.ServiceAccount)
	t.takeAccount(policy.ExecutorAccountKey, "spec.executor.serviceAccount", &t.app.Spec.Executor.ServiceAccount)
}

// isOld reports whether a property is translated or dropped.
func isOld(key string) bool {
	_, isRenamed := policy.EarlyRenamed[key]
	prefix, _ := annotationPrefix(key)
	return isRenamed || policy.EarlyLists[key] != "" || prefix != "" || obsoleteOf(key) != nil || strings.HasPrefix(key, shufflePrefix) || isOldKerberos(key)
}

// annotationPrefix returns today's prefix of a property for one annotation in the seed's spelling, and the key of the annotation.
func annotationPrefix(key string) (prefix, annotation string) {
	for old, today := range policy.EarlyPrefixes {
		if annotation, ok := strings.CutPrefix(key, old); ok {
			return today, annotation
		}
	}
	return "", ""
}

// isOldKerberos reports whether a property for Kerberos is of a fork of Spark. Today's have these prefixes, too.
func isOldKerberos(key string) bool {
	name, ok := strings.CutPrefix(key, kerberosPrefix)
	return ok && !strings.HasPrefix(name, "krb5.") && !strings.HasPrefix(name, "tokenSecret.")
}

// obsoleteOf returns what is known of a property that has no effect today; nil if it may have one.
func obsoleteOf(key string) *policy.NoEffect {
	if at := slices.IndexFunc(policy.EarlyNoEffect, func(n policy.NoEffect) bool { return n.Matches(key) }); at >= 0 {
		return &policy.EarlyNoEffect[at]
	}
	return nil
}

// setOld translates one property, or warns that it has no effect.
func (t *translation) setOld(key, value string) {
	prefix, annotation := annotationPrefix(key)
	switch {
	case policy.EarlyRenamed[key] != "":
		t.rename(key, policy.EarlyRenamed[key], value)
	case prefix != "":
		t.rename(key, prefix+annotation, value)
	case policy.EarlyLists[key] != "":
		t.setListed(key, value)
	case isOldKerberos(key):
		t.warnOfProperty(key, "has no effect, it was of a fork of Spark",
			"write spark.kerberos.principal, spark.kerberos.keytab or spark.kubernetes.kerberos.krb5.configMapName")
	case obsoleteOf(key) != nil:
		t.warnOfProperty(key, obsoleteOf(key).Message, obsoleteOf(key).Remedy)
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
			t.rename(key, policy.EarlyLists[key]+name, text)
		}
	}
}

// dropLabels drops labels that are not the user's: Pods of this API have those of this API, and none of the Kubeflow operator's.
func (t *translation) dropLabels() {
	conf := t.app.Spec.SparkConf
	var dropped []string
	for _, role := range roles {
		prefix := role.KubernetesProperty("label.")
		for key := range conf {
			if label, isLabel := strings.CutPrefix(key, prefix); isLabel && isOwnLabel(label) {
				dropped = append(dropped, key)
			}
		}
	}
	slices.Sort(dropped)
	for _, key := range dropped {
		t.warnings.Warn(t.propertyPath(key), conf[key], "has no effect, Firesteel sets the labels of Pods that have this prefix", "leave it out")
		delete(conf, key)
	}
}

// isOwnLabel reports whether Firesteel sets a label of Pods, or the Kubeflow operator's Pods have it.
func isOwnLabel(label string) bool {
	return strings.HasPrefix(label, kubeflowLabels) || label == LabelAppID || label == LabelApplication
}

// refuseStaged refuses files of the user's machine that the staging server would have taken.
func (t *translation) refuseStaged(spec v1alpha1.SparkApplicationSpec) {
	staged := slices.ContainsFunc(slices.Collect(maps.Keys(spec.SparkConf)), func(key string) bool {
		return slices.ContainsFunc(policy.EarlyStagingServer, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
	if !staged {
		return
	}
	refuse := func(field, uri string) {
		uri = strings.TrimSpace(uri)
		if uri == "" || uri == submission.NoResource || !submission.IsClientLocal(uri) || len(t.refused) >= finding.Max {
			return
		}
		found := finding.List{{
			Reason: "LocalFile", Field: field, Value: uri, Message: "is on your machine, and there is no staging server any more",
			Remedy: "put it where the driver can fetch it, such as s3a://, or write local: before it if it is in the image",
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
	for _, key := range []string{"spark.jars", "spark.files", "spark.submit.pyFiles"} {
		for uri := range strings.SplitSeq(t.app.Spec.SparkConf[key], ",") {
			refuse(finding.Entry(confField, key), uri)
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
	remedy := "leave it out"
	if submission.IsTrue(conf[shuffleServiceKey]) {
		delete(conf, shuffleServiceKey)
		if _, set := conf[shuffleTrackingKey]; !set {
			conf[shuffleTrackingKey] = "true"
			remedy += "; " + shuffleTrackingKey + " is in its place"
		}
		old = append([]string{shuffleServiceKey}, old...)
	}
	for _, key := range old {
		t.warnOfProperty(key, why, remedy)
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
