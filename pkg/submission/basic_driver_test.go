package submission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheDriverPodsName(t *testing.T) {
	plan := pi("spark.kubernetes.driver.pod.name=mine")
	objects := mustBuild(t, plan)
	wantEqual(t, "name", objects.Driver.Name, "mine")
	wantEqual(t, "property", propertiesOf(t, objects)[driverPodNameKey], "mine")
	wantRefused(t, pi("spark.kubernetes.driver.pod.name=My_Pod"), driverPodNameKey, "My_Pod")
	wantRefused(t, pi("spark.kubernetes.driver.pod.name="), driverPodNameKey)
}

func TestLabelsThatTheAPIServerWouldRefuseAreRefused(t *testing.T) {
	const label = "spark.kubernetes.driver.label.a"
	wantRefused(t, pi(label+"=b c"), label, "b c")
	wantRefused(t, version(pi(label+"={{APP_ID}}"), "3.5.7"), label, "{{APP_ID}}")
}

func TestLabelsOfTheDriver(t *testing.T) {
	for name, row := range map[string]struct {
		plan      Plan
		key, want string
	}{
		"a user's":                         {pi("spark.kubernetes.driver.label.a.b/c=d"), "a.b/c", "d"},
		"an empty one":                     {pi("spark.kubernetes.driver.label.a="), "a", ""},
		"a placeholder from 4.0 on":        {pi("spark.kubernetes.driver.label.a=x-{{APP_ID}}{{EXECUTOR_ID}}"), "a", "x-spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061"},
		"the application's name":           {pi("spark.app.name=Word Count"), "spark-app-name", "word-count"},
		"an application without a name":    {without(pi(), "spark.app.name"), "spark-app-name", "spark"},
		"a name with nothing fit for one":  {pi("spark.app.name=$"), "spark-app-name", ""},
		"the version as the user wrote it": {version(pi(), "4.0.0-preview1"), "spark-version", "4.0.0-preview1"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			got, set := objects.Driver.Labels[row.key]
			if !set || got != row.want {
				t.Errorf("label %s = %q, want %q", row.key, got, row.want)
			}
			wantEqual(t, "selector", owned[*corev1.Service](t, objects).Spec.Selector[row.key], row.want)
		})
	}
}

func TestSparksOwnLabelsAreReserved(t *testing.T) {
	for _, label := range []string{"spark-version", "spark-app-selector", "spark-app-name", "spark-role"} {
		wantRefused(t, pi("spark.kubernetes.driver.label."+label+"=x"), "spark.kubernetes.driver.label."+label)
	}
}

func TestAnnotationsOfTheDriver(t *testing.T) {
	plan := templated(version(pi(
		"spark.kubernetes.driver.annotation.queue/app-id={{APP_ID}}",
		"spark.kubernetes.driver.annotation.version={{SPARK_VERSION}}",
	), "3.5.7"), corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"theirs": "kept", "version": "lost"}},
	})
	wantEqual(t, "annotations", mustBuild(t, plan).Driver.Annotations, map[string]string{
		"queue/app-id": "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061", "version": "{{SPARK_VERSION}}", "theirs": "kept",
	})
}

func TestSchedulingOfTheDriver(t *testing.T) {
	plan := templated(pi(
		"spark.kubernetes.node.selector.zone=a",
		"spark.kubernetes.node.selector.disk=hdd",
		"spark.kubernetes.driver.node.selector.disk=ssd",
		"spark.kubernetes.scheduler.name=all",
		"spark.kubernetes.driver.scheduler.name=mine",
		"spark.kubernetes.container.image.pullSecrets=b, c",
		"spark.kubernetes.container.image.pullPolicy=Always",
	), corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy:    corev1.RestartPolicyAlways,
		NodeSelector:     map[string]string{"zone": "b", "arch": "arm64"},
		SchedulerName:    "theirs",
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "a"}},
	}})
	spec := mustBuild(t, plan).Driver.Spec
	wantEqual(t, "restart policy", spec.RestartPolicy, corev1.RestartPolicyNever)
	wantEqual(t, "node selector", spec.NodeSelector, map[string]string{"zone": "a", "disk": "ssd", "arch": "arm64"})
	wantEqual(t, "scheduler", spec.SchedulerName, "mine")
	wantEqual(t, "pull secrets", spec.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}, {Name: "c"}})
	wantEqual(t, "pull policy", spec.Containers[0].ImagePullPolicy, corev1.PullAlways)
	wantRefused(t, pi("spark.kubernetes.container.image.pullPolicy=always"), "pullPolicy", "IfNotPresent")
}

func TestATemplateKeepsItsSchedulerAndServiceAccountWhereNoPropertyNamesOne(t *testing.T) {
	plan := templated(pi(), corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		SchedulerName: "theirs", ServiceAccountName: "account",
	}})
	spec := mustBuild(t, plan).Driver.Spec
	wantEqual(t, "scheduler", spec.SchedulerName, "theirs")
	wantEqual(t, "service account", spec.ServiceAccountName, "account")
}

func TestTheUserOfTheDriver(t *testing.T) {
	for name, row := range map[string]struct {
		version, user, proxy, want string
	}{
		"is spark":                                {"4.0.1", "", "", "spark"},
		"is the plan's":                           {"4.0.1", "bob", "", "bob"},
		"is not the proxy user before Spark 4.3":  {"4.2.0", "bob", "alice", "bob"},
		"is the proxy user from Spark 4.3 on":     {"4.3.0", "bob", "alice", "alice"},
		"is the plan's without proxy user in 4.3": {"4.3.0", "bob", "", "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := version(pi(), row.version)
			plan.SparkUser, plan.ProxyUser = row.user, row.proxy
			wantEqual(t, "variable", driverOf(mustBuild(t, plan)).Env[0], corev1.EnvVar{Name: "SPARK_USER", Value: row.want})
		})
	}
}

func TestVariablesOfPropertiesFollowTheTemplatesAndMayBeEmpty(t *testing.T) {
	plan := templated(pi("spark.kubernetes.driverEnv.B=", "spark.kubernetes.driverEnv.A=1"), corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Env: []corev1.EnvVar{{Name: "A", Value: "0"}}}}},
	})
	wantEqual(t, "variables", driverOf(mustBuild(t, plan)).Env[:5], []corev1.EnvVar{
		{Name: "A", Value: "0"},
		{Name: "SPARK_USER", Value: "spark"},
		{Name: "SPARK_APPLICATION_ID", Value: "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061"},
		{Name: "A", Value: "1"},
		{Name: "B"},
	})
}

func TestPrivilegeEscalation(t *testing.T) {
	const ofBoth = "spark.kubernetes.securityContext.allowPrivilegeEscalation="
	const ofDriver = "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation="
	yes, no := true, false
	for name, row := range map[string]struct {
		plan     Plan
		template *bool
		want     *bool
	}{
		"is left alone before Spark 4.3":           {version(pi(), "4.2.0"), nil, nil},
		"is the template's before Spark 4.3":       {version(pi(), "4.2.0"), &yes, &yes},
		"is denied from Spark 4.3 on":              {version(pi(), "4.3.0"), nil, &no},
		"is denied over the template's permission": {version(pi(), "4.3.0"), &yes, &no},
		"is allowed by a property":                 {version(pi(ofBoth+"true"), "4.3.0"), nil, &yes},
		"is the driver's property first":           {version(pi(ofBoth+"true", ofDriver+"false"), "4.3.0"), nil, &no},
		"is no property's before Spark 4.3":        {version(pi(ofDriver+"false"), "4.2.0"), &yes, &yes},
	} {
		t.Run(name, func(t *testing.T) {
			plan := templated(row.plan, corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: row.template}},
				{Name: "sidecar"},
			}}})
			objects := mustBuild(t, plan)
			wantEqual(t, "driver", driverOf(objects).SecurityContext.AllowPrivilegeEscalation, row.want)
			if objects.Driver.Spec.Containers[0].SecurityContext != nil {
				t.Error("the sidecar got a security context")
			}
		})
	}
}
