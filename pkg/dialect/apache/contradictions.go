package apache

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Contradictions returns the values of a spec that have no effect, because they are meaningless or another field overrides
// them. The Apache operator runs such an application without a warning, so Firesteel runs it, too.
func Contradictions(app *sparkv1.SparkApplication, defaults Defaults) finding.List {
	found := slices.Concat(
		queueContradictions(app.Labels),
		mainResourceContradictions(app.Spec),
		propertyContradictions(app.Spec.SparkConf),
		configMapContradictions(app.Spec.ConfigMapSpecs),
		boundContradictions(app),
	)
	if given := app.Spec.ApplicationTolerations; given != nil {
		policy := Policy(app, defaults)
		most, source := mostExecutors(app, defaults)
		found = slices.Concat(found,
			restartContradictions(given.RestartConfig, policy.Restart),
			timeoutContradictions(given.ApplicationTimeoutConfig),
			executorContradictions(given.InstanceConfig, most, source),
			retentionContradictions(given, policy),
		)
	}
	return found
}

// warnIfNegative warns of a negative number that counts as zero.
func warnIfNegative(found *finding.List, field string, value *int64, means, remedy string) {
	if value != nil && *value < 0 {
		found.Warn(field, *value, means, remedy)
	}
}

// queueContradictions warns of the queue for which the Apache operator makes a driver wait.
func queueContradictions(labels map[string]string) finding.List {
	const label = "kueue.x-k8s.io/queue-name"
	var found finding.List
	if queue, set := labels[label]; set {
		found.Warn(finding.Entry("metadata.labels", label), queue, "has no effect, the driver waits for no queue", "hold it with spec.suspend until it may run")
	}
	return found
}

const sparkRRunner = "org.apache.spark.deploy.RRunner"

// mainResourceContradictions warns of main resources that are not used: mainResource has an order.
func mainResourceContradictions(spec sparkv1.ApplicationSpec) finding.List {
	var found finding.List
	if spec.Jars != "" && spec.PyFiles != "" {
		found.Warn("spec.pyFiles", spec.PyFiles, text.Format("is not what runs, spec.jars %q is", spec.Jars),
			"leave spec.jars out to run Python, and name its jars in spec.sparkConf, as spark.jars")
	}
	if other := cmp.Or(spec.Jars, spec.PyFiles); spec.SparkRFiles != "" && other != "" {
		found.Warn("spec.sparkRFiles", spec.SparkRFiles, text.Format("is not what runs, %q is", other), "leave one of them out")
	}
	if spec.Jars != "" {
		return found
	}
	if strings.Contains(spec.PyFiles, ",") && spec.MainClass != submission.PythonRunner {
		found.Warn("spec.pyFiles", spec.PyFiles, "is taken for one file",
			"write "+submission.PythonRunner+" into spec.mainClass, and the first is run with the others as its modules")
		return found
	}
	for _, scripted := range []struct{ resource, runner string }{{spec.PyFiles, submission.PythonRunner}, {spec.SparkRFiles, sparkRRunner}} {
		if scripted.resource != "" {
			if spec.MainClass != "" && spec.MainClass != scripted.runner {
				found.Warn("spec.mainClass", spec.MainClass, text.Format("has no effect, %s runs %q", scripted.runner, scripted.resource), "leave it out")
			}
			break
		}
	}
	return found
}

// propertyContradictions warns of two kinds of properties. Some tell the driver how it was submitted, which the submission
// knows. The other is a memory size that Spark reads in two ways: its scripts pass it to Java unchanged.
func propertyContradictions(conf map[string]string) finding.List {
	var found finding.List
	for _, row := range policy.ApacheNoEffect {
		if given, set := conf[row.Property]; set {
			found.Warn(finding.Entry("spec.sparkConf", row.Property), given, row.Message, row.Remedy)
		}
	}
	const memory = "spark.driver.memory"
	if given := strings.TrimSpace(conf[memory]); given != "" && strings.Trim(given, "0123456789") == "" {
		found.Warn(finding.Entry("spec.sparkConf", memory), given, "is MiB to the driver's Pod and bytes to its JVM, which does not start with so few",
			text.Format("write %q", given+"m"))
	}
	return found
}

// configMapContradictions warns of config maps with the same name. ConfigMaps creates the last one.
func configMapContradictions(specs []sparkv1.ConfigMapSpec) finding.List {
	var found finding.List
	last := lastOfName(specs)
	for i, spec := range specs {
		if overruling := last[spec.Name]; overruling != i {
			found.Warn(fmt.Sprintf("spec.configMapSpecs[%d]", i), spec.Name,
				fmt.Sprintf("is not made, spec.configMapSpecs[%d] of the same name is", overruling), "give each a name of its own")
		}
	}
	return found
}

func restartContradictions(given *sparkv1.RestartConfig, effective lifecycle.Restart) finding.List {
	if given == nil {
		return nil
	}
	const (
		in     = "spec.applicationTolerations.restartConfig."
		none   = "allows no restart"
		many   = "write how many there may be"
		atOnce = "means at once"
		long   = "write how many milliseconds to wait"
	)
	var found finding.List
	warnIfNegative(&found, in+"maxRestartAttempts", given.MaxRestartAttempts, none, many)
	warnIfNegative(&found, in+"maxRestartOnFailure", given.MaxRestartOnFailure, none, many)
	warnIfNegative(&found, in+"maxRestartOnSchedulingFailure", given.MaxRestartOnSchedulingFailure, none, many)
	warnIfNegative(&found, in+"restartBackoffMillis", given.RestartBackoffMillis, atOnce, long)
	warnIfNegative(&found, in+"restartBackoffMillisForFailure", given.RestartBackoffMillisForFailure, atOnce, long)
	warnIfNegative(&found, in+"restartBackoffMillisForSchedulingFailure", given.RestartBackoffMillisForSchedulingFailure, atOnce, long)
	unreached := func(field string, limit *int64) {
		if limit != nil && *limit > max(effective.MaxAttempts, 0) && effective.Policy != lifecycle.RestartNever {
			found.Warn(in+field, *limit, fmt.Sprintf("is never reached, maxRestartAttempts is %d", effective.MaxAttempts), "raise that, or lower this")
		}
	}
	unreached("maxRestartOnFailure", given.MaxRestartOnFailure)
	unreached("maxRestartOnSchedulingFailure", given.MaxRestartOnSchedulingFailure)
	return found
}

// timeoutContradictions ignores the other timeouts: zero and less disable them in the Apache operator, too.
func timeoutContradictions(given *sparkv1.ApplicationTimeoutConfig) finding.List {
	var found finding.List
	if given != nil && given.ForceTerminationGracePeriodMillis != nil && *given.ForceTerminationGracePeriodMillis <= 0 {
		found.Warn("spec.applicationTolerations.applicationTimeoutConfig.forceTerminationGracePeriodMillis", *given.ForceTerminationGracePeriodMillis,
			"means that no driver is ever deleted by force", "write how many milliseconds to wait for one that does not go")
	}
	return found
}

func executorContradictions(given *sparkv1.ExecutorInstanceConfig, most int64, source string) finding.List {
	if given == nil {
		return nil
	}
	const in = "spec.applicationTolerations.instanceConfig."
	wanted := []struct {
		field  string
		number int32
		// otherwise is what happens to an application that never has that many.
		otherwise string
	}{
		{in + "initExecutors", given.InitExecutors, "never counts as started"},
		{in + "minExecutors", given.MinExecutors, "always counts as below its threshold"},
		{in + "maxExecutors", given.MaxExecutors, "never counts as complete"},
	}
	var found finding.List
	for _, count := range wanted {
		if count.number < 0 {
			found.Warn(count.field, count.number, "counts as 0", "write a number of executors")
		}
	}
	if given.InitExecutors <= 0 {
		for _, count := range wanted[1:] {
			if count.number > 0 {
				found.Warn(count.field, count.number, "has no effect without initExecutors",
					"write into that how many executors the application starts with")
			}
		}
		return found
	}
	for _, count := range wanted {
		switch number := int64(count.number); {
		case given.MaxExecutors > 0 && count.number > given.MaxExecutors:
			found.Warn(count.field, number, fmt.Sprintf("is more than maxExecutors, %d", given.MaxExecutors), "lower it, or raise that")
		case most >= 0 && number > most:
			found.Warn(count.field, number, fmt.Sprintf("is more than the %d executors that Spark asks for (%s), so that the application %s",
				most, source, count.otherwise), "lower it, or raise that")
		}
	}
	return found
}

// mostExecutors returns the largest number of executors that Spark asks for, and the property that sets it. The number is
// below zero if nothing bounds them.
func mostExecutors(app *sparkv1.SparkApplication, defaults Defaults) (most int64, key string) {
	key = "spark.executor.instances"
	fallback := int64(2) // the default of Spark
	if submission.DynamicAllocation(func(key string) string { return property(app, defaults, key) }) {
		key, fallback = "spark.dynamicAllocation.maxExecutors", -1
	}
	number := property(app, defaults, key)
	if number == "" {
		return fallback, key
	}
	most, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil {
		return -1, key
	}
	return most, key
}

func retentionContradictions(given *sparkv1.ApplicationTolerations, policy lifecycle.Policy) finding.List {
	const in = "spec.applicationTolerations."
	var found finding.List
	if older := given.ResourceRetentionPolicy; older != "" && given.ResourceRetainPolicy != "" && older != given.ResourceRetainPolicy {
		found.Warn(in+"resourceRetentionPolicy", older,
			text.Format("has no effect, resourceRetainPolicy %q is its newer spelling", given.ResourceRetainPolicy), "leave it out")
	}
	duration := given.ResourceRetainDurationMillis
	if duration == nil || *duration < 0 {
		return found
	}
	switch {
	case policy.Retain == lifecycle.RetainNever:
		found.Warn(in+"resourceRetainDurationMillis", *duration, "has no effect, nothing is retained",
			"write OnFailure or Always into resourceRetainPolicy")
	case policy.TTL >= 0 && policy.TTL < policy.RetainFor:
		found.Warn(in+"resourceRetainDurationMillis", *duration,
			fmt.Sprintf("is cut short, the application is deleted after ttlAfterStopMillis %d", policy.TTL.Milliseconds()), "raise that, or lower this")
	}
	return found
}
