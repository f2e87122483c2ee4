package apache

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Contradictions names what a spec says and does not get, since the value means nothing or another overrules it, one
// sentence each. The Apache operator runs such an application without a word, so it runs here too.
func Contradictions(app *sparkv1.SparkApplication, defaults Defaults) []string {
	messages := slices.Concat(
		queueContradictions(app.Labels),
		mainResourceContradictions(app.Spec),
		propertyContradictions(app.Spec.SparkConf),
		configMapContradictions(app.Spec.ConfigMapSpecs),
		boundContradictions(app),
	)
	if given := app.Spec.ApplicationTolerations; given != nil {
		policy := Policy(app, defaults)
		most, source := mostExecutors(app, defaults)
		messages = slices.Concat(messages,
			restartContradictions(given.RestartConfig, policy.Restart),
			timeoutContradictions(given.ApplicationTimeoutConfig),
			executorContradictions(given.InstanceConfig, most, source),
			retentionContradictions(given, policy),
		)
	}
	return messages
}

// messageList are what is said of an application.
type messageList []string

func (s *messageList) add(format string, values ...any) {
	*s = append(*s, fmt.Sprintf(format, values...)+".")
}

// addIfNegative speaks of a number below zero that counts as zero.
func (s *messageList) addIfNegative(field string, value *int64, means string) {
	if value != nil && *value < 0 {
		s.add("%s %d %s", field, *value, means)
	}
}

// queueContradictions speak of the queue for which the Apache operator makes a driver wait.
func queueContradictions(labels map[string]string) []string {
	const label = "kueue.x-k8s.io/queue-name"
	var messages messageList
	if queue, set := labels[label]; set {
		messages.add("metadata.labels %s %q has no effect, the driver waits for no queue: hold it with spec.suspend until it may run", label, queue)
	}
	return messages
}

const sparkRRunner = "org.apache.spark.deploy.RRunner"

// mainResourceContradictions speak of the main resource, for which mainResource has an order.
func mainResourceContradictions(spec sparkv1.ApplicationSpec) []string {
	var messages messageList
	if spec.Jars != "" && spec.PyFiles != "" {
		messages.add("spec.pyFiles %q is not what runs, spec.jars %q is: leave spec.jars out to run Python, and name its jars in spec.sparkConf, as spark.jars",
			spec.PyFiles, spec.Jars)
	}
	if other := cmp.Or(spec.Jars, spec.PyFiles); spec.SparkRFiles != "" && other != "" {
		messages.add("spec.sparkRFiles %q is not what runs, %q is: leave one of them out", spec.SparkRFiles, other)
	}
	if spec.Jars != "" {
		return messages
	}
	if strings.Contains(spec.PyFiles, ",") && spec.MainClass != pythonRunner {
		messages.add("spec.pyFiles %q is taken for one file: write %s into spec.mainClass, and the first is run with the others as its modules",
			spec.PyFiles, pythonRunner)
		return messages
	}
	for _, scripted := range []struct{ resource, runner string }{{spec.PyFiles, pythonRunner}, {spec.SparkRFiles, sparkRRunner}} {
		if scripted.resource != "" {
			if spec.MainClass != "" && spec.MainClass != scripted.runner {
				messages.add("spec.mainClass %q has no effect, %s runs %q: leave it out", spec.MainClass, scripted.runner, scripted.resource)
			}
			break
		}
	}
	return messages
}

// propertyContradictions speak of properties that tell the driver how it was submitted, which the submission knows, and
// of a memory that Spark reads in two ways: its scripts hand it to Java as it is written.
func propertyContradictions(conf map[string]string) []string {
	var messages messageList
	for _, key := range []string{"spark.driver.host", "spark.kubernetes.resource.type", "spark.kubernetes.submitInDriver"} {
		if given, set := conf[key]; set {
			messages.add("spec.sparkConf %s %q has no effect, the submission sets it: leave it out", key, redact.Value(key, given))
		}
	}
	const memory = "spark.driver.memory"
	if given := strings.TrimSpace(conf[memory]); given != "" && strings.Trim(given, "0123456789") == "" {
		messages.add("spec.sparkConf %s %q is MiB to the driver's Pod and bytes to its JVM, which does not start with so few: write %q",
			memory, given, given+"m")
	}
	return messages
}

// configMapContradictions speak of config maps of one name, of which ConfigMaps makes the last.
func configMapContradictions(specs []sparkv1.ConfigMapSpec) []string {
	var messages messageList
	last := lastOfName(specs)
	for i, spec := range specs {
		if overruling := last[spec.Name]; overruling != i {
			messages.add("spec.configMapSpecs[%d] %q is not made, spec.configMapSpecs[%d] of the same name is: give each a name of its own",
				i, spec.Name, overruling)
		}
	}
	return messages
}

func restartContradictions(given *sparkv1.RestartConfig, effective lifecycle.Restart) []string {
	if given == nil {
		return nil
	}
	const (
		in     = "spec.applicationTolerations.restartConfig."
		none   = "allows no restart: write how many there may be"
		atOnce = "means at once: write how many milliseconds to wait"
	)
	var messages messageList
	messages.addIfNegative(in+"maxRestartAttempts", given.MaxRestartAttempts, none)
	messages.addIfNegative(in+"maxRestartOnFailure", given.MaxRestartOnFailure, none)
	messages.addIfNegative(in+"maxRestartOnSchedulingFailure", given.MaxRestartOnSchedulingFailure, none)
	messages.addIfNegative(in+"restartBackoffMillis", given.RestartBackoffMillis, atOnce)
	messages.addIfNegative(in+"restartBackoffMillisForFailure", given.RestartBackoffMillisForFailure, atOnce)
	messages.addIfNegative(in+"restartBackoffMillisForSchedulingFailure", given.RestartBackoffMillisForSchedulingFailure, atOnce)
	unreached := func(field string, limit *int64) {
		if limit != nil && *limit > max(effective.MaxAttempts, 0) && effective.Policy != lifecycle.RestartNever {
			messages.add("%s%s %d is never reached, maxRestartAttempts is %d: raise that, or lower this", in, field, *limit, effective.MaxAttempts)
		}
	}
	unreached("maxRestartOnFailure", given.MaxRestartOnFailure)
	unreached("maxRestartOnSchedulingFailure", given.MaxRestartOnSchedulingFailure)
	return messages
}

// timeoutContradictions say nothing of the other timeouts, which zero and less switch off in the Apache operator too.
func timeoutContradictions(given *sparkv1.ApplicationTimeoutConfig) []string {
	var messages messageList
	if given != nil && given.ForceTerminationGracePeriodMillis != nil && *given.ForceTerminationGracePeriodMillis <= 0 {
		messages.add("spec.applicationTolerations.applicationTimeoutConfig.forceTerminationGracePeriodMillis %d means that no driver is "+
			"ever deleted by force: write how many milliseconds to wait for one that does not go", *given.ForceTerminationGracePeriodMillis)
	}
	return messages
}

func executorContradictions(given *sparkv1.ExecutorInstanceConfig, most int64, source string) []string {
	if given == nil {
		return nil
	}
	const in = "spec.applicationTolerations.instanceConfig."
	wanted := []struct {
		field  string
		number int32
		// otherwise is what comes of an application that never has that many.
		otherwise string
	}{
		{in + "initExecutors", given.InitExecutors, "never counts as started"},
		{in + "minExecutors", given.MinExecutors, "always counts as below its threshold"},
		{in + "maxExecutors", given.MaxExecutors, "never counts as complete"},
	}
	var messages messageList
	for _, count := range wanted {
		if count.number < 0 {
			messages.add("%s %d counts as 0: write a number of executors", count.field, count.number)
		}
	}
	if given.InitExecutors <= 0 {
		for _, count := range wanted[1:] {
			if count.number > 0 {
				messages.add("%s %d has no effect without initExecutors: write into that how many executors the application starts with",
					count.field, count.number)
			}
		}
		return messages
	}
	for _, count := range wanted {
		switch number := int64(count.number); {
		case given.MaxExecutors > 0 && count.number > given.MaxExecutors:
			messages.add("%s %d is more than maxExecutors, %d: lower it, or raise that", count.field, number, given.MaxExecutors)
		case most >= 0 && number > most:
			messages.add("%s %d is more than the %d executors that Spark asks for (%s), so that the application %s: lower it, or raise that",
				count.field, number, most, source, count.otherwise)
		}
	}
	return messages
}

// mostExecutors is how many executors Spark asks for at the most, and the property that says so; below zero where
// nothing bounds them.
func mostExecutors(app *sparkv1.SparkApplication, defaults Defaults) (most int64, key string) {
	key = "spark.executor.instances"
	fallback := int64(2) // Spark's
	if strings.EqualFold(property(app, defaults, "spark.dynamicAllocation.enabled"), "true") {
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

func retentionContradictions(given *sparkv1.ApplicationTolerations, policy lifecycle.Policy) []string {
	const in = "spec.applicationTolerations."
	var messages messageList
	if older := given.ResourceRetentionPolicy; older != "" && given.ResourceRetainPolicy != "" && older != given.ResourceRetainPolicy {
		messages.add("%sresourceRetentionPolicy %q has no effect, resourceRetainPolicy %q is its newer spelling: leave it out",
			in, older, given.ResourceRetainPolicy)
	}
	duration := given.ResourceRetainDurationMillis
	if duration == nil || *duration < 0 {
		return messages
	}
	switch {
	case policy.Retain == lifecycle.RetainNever:
		messages.add("%sresourceRetainDurationMillis %d has no effect, nothing is retained: write OnFailure or Always into resourceRetainPolicy",
			in, *duration)
	case policy.TTL >= 0 && policy.TTL < policy.RetainFor:
		messages.add("%sresourceRetainDurationMillis %d is cut short, the application is deleted after ttlAfterStopMillis %d: raise that, or lower this",
			in, *duration, policy.TTL.Milliseconds())
	}
	return messages
}
