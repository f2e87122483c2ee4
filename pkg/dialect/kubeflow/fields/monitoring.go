package fields

import (
	"cmp"
	_ "embed"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The paths at which the configuration of Spark's metrics and of Prometheus' exporter is mounted.
const (
	metricsDir        = "/etc/metrics/conf"
	metricsProperties = "metrics.properties"
	exporterConfig    = "prometheus.yaml"
)

const metricsField = "spec.monitoring"

// defaultMetrics makes Spark show its metrics and the JVM's as JMX beans.
//
//go:embed monitoring/metrics.properties
var defaultMetrics string

// defaultExporter makes the exporter turn these beans into metrics with the names that dashboards use for Spark's metrics.
//
//go:embed monitoring/prometheus.yaml
var defaultExporter string

// monitors reports whether a spec asks for metrics. Unlike in the Kubeflow operator, it may ask for Spark's metrics only.
func monitors(app *v1beta2.SparkApplication) bool {
	given := app.Spec.Monitoring
	return given != nil && (given.Prometheus != nil || given.MetricsProperties != "" || given.MetricsPropertiesFile != "")
}

// exposes reports whether the metrics of a role are exposed.
func exposes(app *v1beta2.SparkApplication, r names.Role) bool {
	if !monitors(app) {
		return false
	}
	if r == names.Driver {
		return app.Spec.Monitoring.ExposeDriverMetrics
	}
	return app.Spec.Monitoring.ExposeExecutorMetrics
}

// hasMetricsConfigMap reports whether a part of the configuration is not in the image.
func hasMetricsConfigMap(app *v1beta2.SparkApplication) bool { return len(metricsData(app)) > 0 }

func metricsData(app *v1beta2.SparkApplication) map[string]string {
	data := map[string]string{}
	if !monitors(app) {
		return data
	}
	given := app.Spec.Monitoring
	if given.MetricsPropertiesFile == "" {
		data[metricsProperties] = cmp.Or(given.MetricsProperties, defaultMetrics)
	}
	if prometheus := given.Prometheus; prometheus != nil && prometheus.ConfigFile == "" {
		data[exporterConfig] = cmp.Or(prometheus.Configuration, defaultExporter)
	}
	return data
}

// metricsConfigMap returns the config map of an application that asks for metrics; nil if it needs none.
func metricsConfigMap(app *v1beta2.SparkApplication) submission.Object {
	data := metricsData(app)
	if len(data) == 0 {
		return nil
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: names.PrometheusConfigMapName(app), Namespace: app.Namespace, Labels: map[string]string{names.LabelCreated: "true"},
		},
		Data: data,
	}
}

// setMonitoring sets the properties that make Spark report its metrics. The Java agent is added to the existing options.
func (p properties) setMonitoring(app *v1beta2.SparkApplication) {
	if !monitors(app) {
		return
	}
	given := app.Spec.Monitoring
	p.set("spark.metrics.namespace", app.Namespace+"."+app.Name, metricsField)
	p.set("spark.metrics.conf", cmp.Or(given.MetricsPropertiesFile, metricsDir+"/"+metricsProperties), metricsField)
	if given.Prometheus == nil {
		return
	}
	for _, r := range []names.Role{names.Driver, names.Executor} {
		if exposes(app, r) {
			p.setExporter(r, given.Prometheus)
		}
	}
}

func (p properties) setExporter(r names.Role, prometheus *v1beta2.PrometheusSpec) {
	const field = metricsField + ".prometheus"
	port := strconv.Itoa(int(prometheusPort(prometheus)))
	agent := fmt.Sprintf("-javaagent:%s=%s:%s", prometheus.JmxExporterJar, port,
		cmp.Or(prometheus.ConfigFile, metricsDir+"/"+exporterConfig))
	options := r.Property("extraJavaOptions")
	if before := p[options].value; before != "" {
		agent = before + " " + agent
	}
	p.set(options, agent, field)
	p.setAll(r.KubernetesProperty("annotation.prometheus.io/"), map[string]string{"scrape": "true", "port": port, "path": "/metrics"}, field)
}

func prometheusPort(prometheus *v1beta2.PrometheusSpec) int32 {
	if prometheus.Port == nil {
		return 8090
	}
	return *prometheus.Port
}

func prometheusPortName(prometheus *v1beta2.PrometheusSpec) string {
	return cmp.Or(prometheus.PortName, "jmx-exporter")
}
