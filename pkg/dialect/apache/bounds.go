package apache

import (
	"fmt"
	"time"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// bounds are the time limits that annotations can set.
type bounds struct {
	driverStart, executorStart, activeDeadline dialect.Bound
}

// boundsOf returns the limits of an application. Its own fields come first, then its annotations, then the operator's
// defaults.
func boundsOf(app *sparkv1.SparkApplication, defaults Defaults) bounds {
	given, effective := timeoutConfig(app.Spec.ApplicationTolerations), sparkv1.ApplicationTimeoutConfig{}
	if merged := tolerationsOf(app, defaults).ApplicationTimeoutConfig; merged != nil {
		effective = *merged
	}
	bound := func(annotation string, given, effective *int64) dialect.Bound {
		byField := dialect.Bound{Limit: millis(effective, defaultTimeoutMillis)}
		if given != nil {
			return byField
		}
		return dialect.BoundOf(app, annotation, byField)
	}
	return bounds{
		driverStart:   bound(dialect.AnnotationDriverStart, given.DriverStartTimeoutMillis, effective.DriverStartTimeoutMillis),
		executorStart: bound(dialect.AnnotationExecutorsStart, given.ExecutorStartTimeoutMillis, effective.ExecutorStartTimeoutMillis),
		activeDeadline: dialect.BoundOf(app, dialect.AnnotationActiveDeadline,
			dialect.Bound{Limit: defaults.ActiveDeadline, Source: "active-deadline of the ConfigMap config-defaults"}),
	}
}

func timeoutConfig(tolerations *sparkv1.ApplicationTolerations) sparkv1.ApplicationTimeoutConfig {
	if tolerations == nil || tolerations.ApplicationTimeoutConfig == nil {
		return sparkv1.ApplicationTimeoutConfig{}
	}
	return *tolerations.ApplicationTimeoutConfig
}

// boundContradictions warns of annotations that a field of the spec overrides, and of annotations that have no effect.
func boundContradictions(app *sparkv1.SparkApplication) finding.List {
	const in = "spec.applicationTolerations.applicationTimeoutConfig."
	given := timeoutConfig(app.Spec.ApplicationTolerations)
	var found finding.List
	for _, own := range []struct {
		annotation, field string
		millis            *int64
	}{
		{dialect.AnnotationDriverStart, "driverStartTimeoutMillis", given.DriverStartTimeoutMillis},
		{dialect.AnnotationExecutorsStart, "executorStartTimeoutMillis", given.ExecutorStartTimeoutMillis},
	} {
		limit, ok := dialect.ParseBound(app.Annotations[own.annotation])
		if ok && own.millis != nil && limit != time.Duration(max(*own.millis, 0))*time.Millisecond {
			found.Warn(finding.Entry("metadata.annotations", own.annotation), app.Annotations[own.annotation],
				fmt.Sprintf("has no effect, %s says %d", in+own.field, *own.millis), "leave one of them out")
		}
	}
	return append(found, dialect.AnnotationWarnings(app)...)
}
