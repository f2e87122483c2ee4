package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
)

// fieldRow is a field of spec, and a part of what comes of it: of the driver Pod, of the executors' template and of
// objects as the API server has them, of the properties that the driver reads and of the condition Warning.
type fieldRow struct{ field, comes string }

// fieldRows are those of each manifest in testdata/kubeflow.
var fieldRows = map[string][]fieldRow{
	"pods": {
		{"type", `driver: {spec: {containers: [{args: [driver, com.example.Report, local:///opt/report.jar]}]}}`},
		{"sparkVersion", `driver: {metadata: {labels: {spark-version: 4.1.1}}}`},
		{"mode", `properties: {spark.submit.deployMode: cluster}`},
		{"proxyUser", `driver: {spec: {containers: [{args: [--proxy-user, ada]}]}}`},
		{"image", `properties: {spark.kubernetes.container.image: "registry.example.com/spark:4.1.1"}`},
		{"initContainerImage", `warning: spec.initContainerImage has no effect`},
		{"imagePullPolicy", `driver: {spec: {containers: [{name: spark-kubernetes-driver, imagePullPolicy: Always}]}}`},
		{"imagePullPolicy", `properties: {spark.kubernetes.container.image.pullPolicy: Always}`},
		{"imagePullSecrets", `driver: {spec: {imagePullSecrets: [{name: pull}, {name: another}]}}`},
		{"imagePullSecrets", `properties: {spark.kubernetes.container.image.pullSecrets: "pull,another"}`},
		{"mainClass", `driver: {spec: {containers: [{args: [--class, com.example.Report]}]}}`},
		{"mainApplicationFile", `driver: {spec: {containers: [{args: ["local:///opt/report.jar"]}]}}`},
		{"mainApplicationFile", `properties: {spark.jars: "local:///opt/a.jar,local:///opt/b.jar,local:///opt/report.jar"}`},
		{"arguments", `driver: {spec: {containers: [{args: ["2026-01-01", ""]}]}}`},
		{"sparkConf", `properties: {spark.eventLog.enabled: "true"}`},
		{"hadoopConf", `properties: {spark.hadoop.fs.s3a.endpoint: "https://s3.example.com"}`},
		{"sparkConfigMap", `driver: {spec: {
			containers: [{name: spark-kubernetes-driver, env: [{name: SPARK_CONF_DIR, value: /etc/spark/conf}],
			  volumeMounts: [{name: spark-configmap-volume, mountPath: /etc/spark/conf}]}],
			volumes: [{name: spark-configmap-volume, configMap: {name: spark-files}}]}}`},
		{"sparkConfigMap", `{properties: {spark.executorEnv.SPARK_CONF_DIR: /etc/spark/conf}, executor: {spec: {
			containers: [{name: spark-kubernetes-executor, volumeMounts: [{name: spark-configmap-volume, mountPath: /etc/spark/conf}]}],
			volumes: [{name: spark-configmap-volume, configMap: {name: spark-files}}]}}}`},
		{"hadoopConfigMap", `driver: {spec: {
			containers: [{name: spark-kubernetes-driver, env: [{name: HADOOP_CONF_DIR, value: /etc/hadoop/conf}],
			  volumeMounts: [{name: hadoop-configmap-volume, mountPath: /etc/hadoop/conf}]}],
			volumes: [{name: hadoop-configmap-volume, configMap: {name: hadoop-files}}]}}`},
		{"hadoopConfigMap", `executor: {spec: {
			containers: [{name: spark-kubernetes-executor, env: [{name: HADOOP_CONF_DIR, value: /etc/hadoop/conf}],
			  volumeMounts: [{name: hadoop-configmap-volume, mountPath: /etc/hadoop/conf}]}],
			volumes: [{name: hadoop-configmap-volume, configMap: {name: hadoop-files}}]}}`},
		{"volumes", `driver: {spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: shared, emptyDir: {}}]}}`},
		{"volumes", `executor: {spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}`},
		{"driver.podName", `{driver: {metadata: {name: the-driver}}, properties: {spark.kubernetes.driver.pod.name: the-driver}}`},
		{"driver.kubernetesMaster", `properties: {spark.kubernetes.driver.master: "https://10.1.2.3:6443"}`},
		{"driver.serviceAnnotations", `headless: {metadata: {annotations: {headless: annotated}}}`},
		{"driver.serviceLabels", `headless: {metadata: {labels: {headless: labelled}}}`},
		{"executor.instances", `properties: {spark.executor.instances: "3"}`},
		{"executor.deleteOnTermination", `properties: {spark.kubernetes.executor.deleteOnTermination: "false"}`},
		{"deps.jars", `properties: {spark.jars: "local:///opt/a.jar,local:///opt/b.jar,local:///opt/report.jar"}`},
		{"deps.files", `properties: {spark.files: "s3a://bucket/words.txt"}`},
		{"deps.pyFiles", `properties: {spark.submit.pyFiles: "local:///opt/c.zip"}`},
		{"deps.packages", `properties: {spark.jars.packages: "com.example:some:1.0"}`},
		{"deps.excludePackages", `properties: {spark.jars.excludes: "com.example:other"}`},
		{"deps.repositories", `properties: {spark.jars.repositories: "https://repository.example.com/prod"}`},
		{"deps.archives", `properties: {spark.archives: "s3a://bucket/environment.tar.gz#environment"}`},
		{"deps.jarsDownloadDir", `warning: spec.deps.jarsDownloadDir has no effect`},
		{"deps.filesDownloadDir", `warning: spec.deps.filesDownloadDir has no effect`},
		{"deps.downloadTimeout", `warning: spec.deps.downloadTimeout has no effect`},
		{"deps.maxSimultaneousDownloads", `warning: spec.deps.maxSimultaneousDownloads has no effect`},
		{"failureRetries", `warning: spec.failureRetries has no effect`},
		{"retryInterval", `warning: spec.retryInterval has no effect`},
		{"pythonVersion", `properties: {spark.kubernetes.pyspark.pythonVersion: "3"}`},
		{"memoryOverheadFactor", `properties: {spark.kubernetes.memoryOverheadFactor: "0.3"}`},
		{"monitoring.exposeDriverMetrics", `driver: {metadata: {annotations: {prometheus.io/scrape: "true", prometheus.io/path: /metrics}}, spec: {
			containers: [{name: spark-kubernetes-driver, volumeMounts: [{name: pods-prom-conf-vol, mountPath: /etc/metrics/conf}]}],
			volumes: [{name: pods-prom-conf-vol, configMap: {name: pods-prom-conf}}]}}`},
		{"monitoring.exposeExecutorMetrics", `{properties: {spark.kubernetes.executor.annotation.prometheus.io/scrape: "true"}, executor: {spec: {
			containers: [{name: spark-kubernetes-executor, volumeMounts: [{name: pods-prom-conf-vol, mountPath: /etc/metrics/conf}]}],
			volumes: [{name: pods-prom-conf-vol, configMap: {name: pods-prom-conf}}]}}}`},
		{"monitoring.metricsProperties", `{properties: {spark.metrics.conf: /etc/metrics/conf/metrics.properties},
			ConfigMap pods-prom-conf: {data: {metrics.properties: "*.sink.jmx.class=org.apache.spark.metrics.sink.JmxSink"}}}`},
		{"monitoring.prometheus.jmxExporterJar", `properties: {
			spark.driver.extraJavaOptions: "-XX:+UseG1GC -javaagent:/prometheus/agent.jar=8091:/etc/metrics/conf/prometheus.yaml",
			spark.executor.extraJavaOptions: "-XX:+UseZGC -javaagent:/prometheus/agent.jar=8091:/etc/metrics/conf/prometheus.yaml"}`},
		{"monitoring.prometheus.port", `{driver: {metadata: {annotations: {prometheus.io/port: "8091"}}, spec: {containers: [{ports: [{containerPort: 8091}]}]}},
			executor: {spec: {containers: [{ports: [{containerPort: 8091}]}]}}, properties: {spark.kubernetes.executor.annotation.prometheus.io/port: "8091"}}`},
		{"monitoring.prometheus.portName", `{driver: {spec: {containers: [{ports: [{name: jmx, containerPort: 8091, protocol: TCP}]}]}},
			executor: {spec: {containers: [{ports: [{name: jmx, containerPort: 8091, protocol: TCP}]}]}}}`},
		{"monitoring.prometheus.configuration", `ConfigMap pods-prom-conf: {data: {prometheus.yaml: "lowercaseOutputName: true"}}`},
		{"batchScheduler", `{driver: {spec: {schedulerName: volcano}, metadata: {annotations: {scheduling.k8s.io/group-name: spark-pods-pg}}},
			properties: {spark.kubernetes.executor.scheduler.name: volcano, spark.kubernetes.executor.annotation.scheduling.k8s.io/group-name: spark-pods-pg}}`},
		{"batchSchedulerOptions.queue", `PodGroup spark-pods-pg: {spec: {queue: research, minMember: 1}}`},
		{"batchSchedulerOptions.priorityClassName", `PodGroup spark-pods-pg: {spec: {priorityClassName: kubeflow-batch}}`},
		{"batchSchedulerOptions.resources", `PodGroup spark-pods-pg: {spec: {minResources: {cpu: "3", memory: 5Gi}}}`},
		{"sparkUIOptions.servicePort", `Service pods-ui-svc: {spec: {ports: [{port: 80, targetPort: 4050}],
			selector: {spark-role: driver, sparkoperator.k8s.io/app-name: pods}}}`},
		{"sparkUIOptions.servicePortName", `Service pods-ui-svc: {spec: {ports: [{name: http-ui}]}}`},
		{"sparkUIOptions.serviceType", `Service pods-ui-svc: {spec: {type: NodePort}}`},
		{"sparkUIOptions.serviceAnnotations", `Service pods-ui-svc: {metadata: {annotations: {ui: annotated}}}`},
		{"sparkUIOptions.serviceLabels", `Service pods-ui-svc: {metadata: {labels: {ui: labelled}}}`},
		{"sparkUIOptions.ingressAnnotations", `Ingress pods-ui-ingress: {metadata: {annotations: {ui: ingress}}}`},
		{"sparkUIOptions.ingressTLS", `Ingress pods-ui-ingress: {spec: {tls: [{hosts: [ui.example.com], secretName: ui-tls}]}}`},
		{"driverIngressOptions.servicePort", `Service pods-driver-15002: {spec: {ports: [{port: 15002, targetPort: 15002}],
			selector: {spark-role: driver, sparkoperator.k8s.io/app-name: pods}}}`},
		{"driverIngressOptions.servicePortName", `Service pods-driver-15002: {spec: {ports: [{name: grpc}]}}`},
		{"driverIngressOptions.serviceType", `Service pods-driver-15002: {spec: {type: NodePort}}`},
		{"driverIngressOptions.serviceAnnotations", `Service pods-driver-15002: {metadata: {annotations: {connect: annotated}}}`},
		{"driverIngressOptions.serviceLabels", `Service pods-driver-15002: {metadata: {labels: {connect: labelled}}}`},
		{"driverIngressOptions.ingressURLFormat", `Ingress pods-ing-15002: {spec: {rules: [{host: pods.connect.example.com, http: {
			paths: [{backend: {service: {name: pods-driver-15002, port: {number: 15002}}}}]}}]}}`},
		{"driverIngressOptions.ingressAnnotations", `Ingress pods-ing-15002: {metadata: {annotations: {connect: ingress}}}`},
		{"driverIngressOptions.ingressTLS", `Ingress pods-ing-15002: {spec: {tls: [{hosts: [connect.example.com], secretName: connect-tls}]}}`},
		{"driverPodDisruptionBudget", `PodDisruptionBudget the-driver: {spec: {minAvailable: 1,
			selector: {matchLabels: {spark-role: driver, sparkoperator.k8s.io/app-name: pods}}}}`},

		{"driver.cores", `properties: {spark.driver.cores: "2"}`},
		{"driver.coreRequest", `driver: {spec: {containers: [{name: spark-kubernetes-driver, resources: {requests: {cpu: 500m}}}]}}`},
		{"driver.coreLimit", `driver: {spec: {containers: [{name: spark-kubernetes-driver, resources: {limits: {cpu: 1200m}}}]}}`},
		{"driver.memory", `{properties: {spark.driver.memory: 1g}, driver: {spec: {containers: [{resources: {requests: {memory: 1280Mi}}}]}}}`},
		{"driver.memoryOverhead", `{properties: {spark.driver.memoryOverhead: 256m}, driver: {spec: {containers: [{resources: {requests: {memory: 1280Mi}}}]}}}`},
		{"driver.memoryLimit", `driver: {spec: {containers: [{name: spark-kubernetes-driver, resources: {limits: {memory: 2Gi}}}]}}`},
		{"driver.gpu", `driver: {spec: {containers: [{name: spark-kubernetes-driver, resources: {limits: {nvidia.com/gpu: "1"}}}]}}`},
		{"driver.image", `driver: {spec: {containers: [{name: spark-kubernetes-driver, image: "registry.example.com/driver:4.1.1"}]}}`},
		{"driver.configMaps", `driver: {spec: {volumes: [{name: rules-vol, configMap: {name: rules}}, {configMap: {name: rules.of.mine}}],
			containers: [{name: spark-kubernetes-driver, volumeMounts: [{name: rules-vol, mountPath: /etc/rules}, {mountPath: /etc/mine}]}]}}`},
		{"driver.secrets", `driver: {spec: {volumes: [{name: gcp-volume, secret: {secretName: gcp}}, {name: token-volume, secret: {secretName: token}}],
			containers: [{name: spark-kubernetes-driver, volumeMounts: [{mountPath: /mnt/gcp}, {mountPath: /mnt/token}], env: [
			  {name: GOOGLE_APPLICATION_CREDENTIALS, value: /mnt/gcp/key.json}, {name: HADOOP_TOKEN_FILE_LOCATION, value: /mnt/token/hadoop.token}]}]}}`},
		{"driver.env", `driver: {spec: {containers: [{name: spark-kubernetes-driver, env: [
			{name: STAGE, value: production}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}`},
		{"driver.envVars", `driver: {spec: {containers: [{name: spark-kubernetes-driver, env: [{name: OLD, value: "yes"}]}]}}`},
		{"driver.envFrom", `driver: {spec: {containers: [{name: spark-kubernetes-driver, envFrom: [{prefix: F_, secretRef: {name: passwords}}]}]}}`},
		{"driver.envSecretKeyRefs", `driver: {spec: {containers: [{name: spark-kubernetes-driver,
			env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: key}}}]}]}}`},
		{"driver.labels", `driver: {metadata: {labels: {version: a, team: data}}}`},
		{"driver.annotations", `driver: {metadata: {annotations: {note: a}}}`},
		{"driver.volumeMounts", `driver: {spec: {volumes: [{name: spark-local-dir-1, hostPath: {path: /mnt/disk}}], containers: [{name: spark-kubernetes-driver,
			volumeMounts: [{name: data, mountPath: /data, subPath: en, readOnly: true}, {name: spark-local-dir-1, mountPath: /scratch}],
			env: [{name: SPARK_LOCAL_DIRS, value: /scratch}]}]}}`},
		{"driver.affinity", `driver: {spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
			{nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}}}`},
		{"driver.tolerations", `driver: {spec: {tolerations: [{key: spark, operator: Exists, effect: NoSchedule}]}}`},
		{"driver.podSecurityContext", `driver: {spec: {securityContext: {fsGroup: 185}}}`},
		{"driver.securityContext", `driver: {spec: {containers: [{name: spark-kubernetes-driver, securityContext: {runAsNonRoot: true, runAsUser: 185}}]}}`},
		{"driver.schedulerName", `warning: 'spec.driver.schedulerName "mine" has no effect, spec.batchScheduler says "volcano"'`},
		{"driver.sidecars", `driver: {spec: {containers: [{name: logs, image: fluent-bit, volumeMounts: [{name: shared, mountPath: /shared}]}]}}`},
		{"driver.initContainers", `driver: {spec: {initContainers: [{name: prepare, image: busybox, volumeMounts: [{name: shared, mountPath: /shared}]}]}}`},
		{"driver.hostNetwork", `driver: {spec: {hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}}`},
		{"driver.nodeSelector", `driver: {spec: {nodeSelector: {pool: drivers}}}`},
		{"driver.dnsConfig", `driver: {spec: {dnsConfig: {nameservers: [10.0.0.53], options: [{name: ndots, value: "2"}]}}}`},
		{"driver.terminationGracePeriodSeconds", `driver: {spec: {terminationGracePeriodSeconds: 60}}`},
		{"driver.serviceAccount", `driver: {spec: {serviceAccountName: spark}}`},
		{"driver.hostAliases", `driver: {spec: {hostAliases: [{ip: 10.0.0.9, hostnames: [db]}]}}`},
		{"driver.shareProcessNamespace", `driver: {spec: {shareProcessNamespace: true}}`},
		{"driver.runtimeClassName", `driver: {spec: {runtimeClassName: kubeflow-sandbox}}`},
		{"driver.javaOptions", `properties: {spark.driver.extraJavaOptions: "-XX:+UseG1GC -javaagent:/prometheus/agent.jar=8091:/etc/metrics/conf/prometheus.yaml"}`},
		{"driver.lifecycle", `driver: {spec: {containers: [{name: spark-kubernetes-driver, lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}}]}}`},
		{"driver.ports", `driver: {spec: {containers: [{name: spark-kubernetes-driver, ports: [{name: debug, protocol: TCP, containerPort: 5005}]}]}}`},
		{"driver.priorityClassName", `driver: {spec: {priorityClassName: kubeflow-high, priority: 2000}}`},

		{"executor.cores", `properties: {spark.executor.cores: "2"}`},
		{"executor.coreRequest", `properties: {spark.kubernetes.executor.request.cores: 700m}`},
		{"executor.coreLimit", `properties: {spark.kubernetes.executor.limit.cores: 1300m}`},
		{"executor.memory", `properties: {spark.executor.memory: 2g}`},
		{"executor.memoryOverhead", `properties: {spark.executor.memoryOverhead: 512m}`},
		{"executor.memoryLimit", `warning: 'spec.executor.memoryLimit "4g" has no effect'`},
		{"executor.gpu", `executor: {spec: {containers: [{name: spark-kubernetes-executor, resources: {limits: {amd.com/gpu: "2"}}}]}}`},
		{"executor.image", `properties: {spark.kubernetes.executor.container.image: "registry.example.com/executor:4.1.1"}`},
		{"executor.configMaps", `executor: {spec: {volumes: [{name: rules-vol, configMap: {name: rules}}, {configMap: {name: rules.of.mine}}],
			containers: [{name: spark-kubernetes-executor, volumeMounts: [{name: rules-vol, mountPath: /etc/rules}, {mountPath: /etc/mine}]}]}}`},
		{"executor.secrets", `properties: {spark.kubernetes.executor.secrets.gcp: /mnt/gcp, spark.kubernetes.executor.secrets.token: /mnt/token,
			spark.executorEnv.GOOGLE_APPLICATION_CREDENTIALS: /mnt/gcp/key.json, spark.executorEnv.HADOOP_TOKEN_FILE_LOCATION: /mnt/token/hadoop.token}`},
		{"executor.env", `{properties: {spark.executorEnv.SPARK_USER: ada}, executor: {spec: {containers: [{name: spark-kubernetes-executor, env: [
			{name: STAGE, value: production}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}]}}}`},
		{"executor.envVars", `properties: {spark.executorEnv.OLD: "yes"}`},
		{"executor.envFrom", `executor: {spec: {containers: [{name: spark-kubernetes-executor, envFrom: [{configMapRef: {name: settings}}]}]}}`},
		{"executor.envSecretKeyRefs", `properties: {spark.kubernetes.executor.secretKeyRef.KEY: "keys:key"}`},
		{"executor.labels", `properties: {spark.kubernetes.executor.label.version: b, spark.kubernetes.executor.label.team: data}`},
		{"executor.annotations", `properties: {spark.kubernetes.executor.annotation.note: b}`},
		{"executor.volumeMounts", `{executor: {spec: {containers: [{name: spark-kubernetes-executor, volumeMounts: [{name: data, mountPath: /data}]}]}}, properties: {
			spark.kubernetes.executor.volumes.hostPath.spark-local-dir-1.mount.path: /scratch,
			spark.kubernetes.executor.volumes.hostPath.spark-local-dir-1.options.path: /mnt/disk}}`},
		{"executor.affinity", `executor: {spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}}}`},
		{"executor.tolerations", `executor: {spec: {tolerations: [{key: spot, operator: Exists}]}}`},
		{"executor.podSecurityContext", `executor: {spec: {securityContext: {supplementalGroups: [7]}}}`},
		{"executor.securityContext", `{executor: {spec: {containers: [{name: spark-kubernetes-executor, securityContext: {runAsUser: 186}}]}},
			properties: {spark.kubernetes.executor.securityContext.allowPrivilegeEscalation: "false"}}`},
		{"executor.schedulerName", `warning: 'spec.executor.schedulerName "mine" has no effect, spec.batchScheduler says "volcano"'`},
		{"executor.sidecars", `executor: {spec: {containers: [{name: logs, image: fluent-bit}]}}`},
		{"executor.initContainers", `executor: {spec: {initContainers: [{name: prepare, image: busybox}]}}`},
		{"executor.hostNetwork", `executor: {spec: {hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}}`},
		{"executor.nodeSelector", `executor: {spec: {nodeSelector: {pool: executors}}}`},
		{"executor.dnsConfig", `executor: {spec: {dnsConfig: {searches: [example.com]}}}`},
		{"executor.terminationGracePeriodSeconds", `{executor: {spec: {terminationGracePeriodSeconds: 90}},
			properties: {spark.kubernetes.executor.terminationGracePeriodSeconds: 90s}}`},
		{"executor.serviceAccount", `properties: {spark.kubernetes.authenticate.executor.serviceAccountName: spark-executors}`},
		{"executor.hostAliases", `executor: {spec: {hostAliases: [{ip: 10.0.0.8, hostnames: [cache]}]}}`},
		{"executor.shareProcessNamespace", `executor: {spec: {shareProcessNamespace: true}}`},
		{"executor.runtimeClassName", `executor: {spec: {runtimeClassName: kubeflow-sandbox}}`},
		{"executor.javaOptions", `properties: {spark.executor.extraJavaOptions: "-XX:+UseZGC -javaagent:/prometheus/agent.jar=8091:/etc/metrics/conf/prometheus.yaml"}`},
		{"executor.lifecycle", `executor: {spec: {containers: [{name: spark-kubernetes-executor, lifecycle: {postStart: {exec: {command: [sleep, "1"]}}}}]}}`},
		{"executor.ports", `executor: {spec: {containers: [{name: spark-kubernetes-executor, ports: [{name: debug, protocol: TCP, containerPort: 5006}]}]}}`},
		{"executor.priorityClassName", `executor: {spec: {priorityClassName: kubeflow-low}}`},
	},
	"templates": {
		{"deps.pyfiles", `properties: {spark.submit.pyFiles: "local:///opt/d.zip"}`},
		{"deployMode", `properties: {spark.submit.deployMode: cluster}`},
		{"image", `{driver: {spec: {containers: [{name: spark-kubernetes-driver, image: "registry.example.com/spark:4.0.1"}]}},
			properties: {spark.kubernetes.executor.container.image: "registry.example.com/spark:4.0.1"}}`},
		{"mainApplicationFile", `driver: {spec: {containers: [{args: [org.apache.spark.deploy.PythonRunner, local:///opt/report.py]}]}}`},
		{"nodeSelector", `{driver: {spec: {nodeSelector: {disk: ssd}}}, properties: {spark.kubernetes.node.selector.disk: ssd}}`},
		{"monitoring.metricsPropertiesFile", `properties: {spark.metrics.conf: /opt/metrics.properties}`},
		{"monitoring.prometheus.configFile", `properties: {
			spark.driver.extraJavaOptions: "-javaagent:/prometheus/agent.jar=8090:/opt/exporter.yaml",
			spark.executor.extraJavaOptions: "-javaagent:/prometheus/agent.jar=8090:/opt/exporter.yaml"}`},
		{"dynamicAllocation.enabled", `properties: {spark.dynamicAllocation.enabled: "true"}`},
		{"dynamicAllocation.initialExecutors", `properties: {spark.dynamicAllocation.initialExecutors: "2"}`},
		{"dynamicAllocation.minExecutors", `properties: {spark.dynamicAllocation.minExecutors: "1"}`},
		{"dynamicAllocation.maxExecutors", `properties: {spark.dynamicAllocation.maxExecutors: "10"}`},
		{"dynamicAllocation.shuffleTrackingEnabled", `properties: {spark.dynamicAllocation.shuffleTracking.enabled: "false"}`},
		{"dynamicAllocation.shuffleTrackingTimeout", `properties: {spark.dynamicAllocation.shuffleTracking.timeout: "60000"}`},
		{"batchScheduler", `{driver: {spec: {schedulerName: yunikorn}, metadata: {annotations: {yunikorn.apache.org/task-group-name: spark-driver}}},
			properties: {spark.kubernetes.executor.annotation.yunikorn.apache.org/task-group-name: spark-executor}}`},
		{"batchSchedulerOptions.queue", `{driver: {metadata: {labels: {queue: root.research}}}, properties: {spark.kubernetes.executor.label.queue: root.research}}`},
		{"driver.cores", `{properties: {spark.driver.cores: "1"}, driver: {spec: {containers: [{name: spark-kubernetes-driver, resources: {requests: {cpu: 500m}}}]}}}`},
		{"driver.schedulerName", `driver: {spec: {schedulerName: yunikorn}}`},
		{"driver.template", `driver: {metadata: {labels: {from: template}}, spec: {priorityClassName: kubeflow-low, containers: [{name: proxy, image: envoy},
			{name: spark-kubernetes-driver, image: "registry.example.com/spark:4.0.1", env: [{name: FROM, value: template}, {name: STAGE, value: production}]}]}}`},
		{"driver.volumeMounts", `driver: {spec: {
			volumes: [{name: spark-local-dir-disk, persistentVolumeClaim: {claimName: scratch}}, {name: spark-local-dir-odd, csi: {driver: local}}],
			containers: [{name: spark-kubernetes-driver, volumeMounts: [{name: spark-local-dir-disk, mountPath: /scratch}, {name: spark-local-dir-odd, mountPath: /odd}]}]}}`},
		{"executor.cores", `properties: {spark.executor.cores: "1", spark.kubernetes.executor.request.cores: "0.5"}`},
		{"executor.template", `executor: {metadata: {annotations: {from: template}}, spec: {tolerations: [{key: spot}], containers: [{name: proxy, image: envoy},
			{name: spark-kubernetes-executor, env: [{name: FROM, value: template}, {name: STAGE, value: production}]}]}}`},
		{"executor.volumeMounts", `{executor: {spec: {volumes: [{name: spark-local-dir-odd, csi: {driver: local}}]}}, properties: {
			spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-disk.options.claimName: scratch,
			spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-disk.mount.readOnly: "true"}}`},
	},
}

// Each field of a manifest acts, on what the API server has in the end.
func TestKubeflowFieldsHaveTheirEffect(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.withBatchSchedulers()
	s.configured("config-kubeflow", "driver-pod-disruption-budget", "enabled")
	s.configured("config-kubeflow", "ingress-url-format", "{{$appName}}.spark.example.com")
	s.ownController(controller{sink: s.sink.URL()})
	s.serviceAccount("spark")
	s.classes()
	for name, rows := range fieldRows {
		manifest, err := os.ReadFile(filepath.Join("testdata", "kubeflow", name+".yaml"))
		s.must(err)
		s.submitted(string(manifest))
		comes := s.comesOf(name)
		for _, row := range rows {
			var want any
			s.must(yaml.Unmarshal([]byte(row.comes), &want))
			if missing := lacking(comes, want, ""); missing != "" {
				t.Errorf("%s of %s: %s", row.field, name, missing)
			}
		}
	}
}

// Fields of the lifecycle have tests of their own, by their names.
func TestKubeflowFieldsHaveARowEach(t *testing.T) {
	t.Parallel()
	has := func(field string) bool {
		_, found := lifecycleFields[field]
		for _, rows := range fieldRows {
			found = found || slices.ContainsFunc(rows, func(row fieldRow) bool { return row.field == field })
		}
		return found
	}
	for _, route := range fields.Routes {
		if !has(route.Field) {
			t.Errorf("no row has %s", route.Field)
		}
	}
	for _, route := range fields.PodRoutes {
		for _, role := range []string{"driver.", "executor."} {
			if !has(role + route.Field) {
				t.Errorf("no row has %s", role+route.Field)
			}
		}
	}
}

// classes makes those that the manifests name.
func (s *env) classes() {
	s.Helper()
	_, err := s.kubectl(`
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: kubeflow-high}, value: 2000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: kubeflow-low}, value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: kubeflow-batch}, value: 1500}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kubeflow-sandbox}, handler: sandbox}
`, "apply", "--filename=-")
	s.must(err)
	for _, class := range []string{"kubeflow-high", "kubeflow-low", "kubeflow-batch"} { // which the API server knows from a watch
		pod := plainPod("of-a-class")
		pod.Spec.PriorityClassName, pod.Spec.RuntimeClassName = class, ptr.To("kubeflow-sandbox")
		s.untilAdmitted(s.creating(pod))
	}
}

// comesOf waits for an application's driver, and returns the objects that its manifest produced.
func (s *env) comesOf(name string) map[string]any {
	s.Helper()
	app := s.untilShown(name, v1beta2.SubmittedState)
	driver, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), app.Status.DriverInfo.PodName, metav1.GetOptions{})
	s.must(err)
	comes := map[string]any{"driver": generic(s, driver)}
	if warning := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionWarning); warning != nil {
		comes["warning"] = warning.Message
	}
	for _, kind := range besides {
		list, err := s.Dynamic.Resource(kind).Namespace(s.ns).List(s.Context(), metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // the cluster has no such kind
		}
		s.must(err)
		for _, object := range list.Items {
			if !ownedBy(object.GetOwnerReferences(), app.Name, driver.Name) {
				continue
			}
			comes[object.GetKind()+" "+object.GetName()] = object.Object
			data, _ := object.Object["data"].(map[string]any)
			if text, ok := data["spark.properties"].(string); ok {
				comes["properties"] = propertiesIn(text)
			}
			if text, ok := data["podspec-configmap-key"].(string); ok {
				var template any
				s.must(yaml.Unmarshal([]byte(text), &template))
				comes["executor"] = template
			}
			if strings.HasSuffix(object.GetName(), "-driver-svc") {
				comes["headless"] = object.Object
			}
		}
	}
	return comes
}

// besides are the kinds of objects that there are beside the Pods.
var besides = []schema.GroupVersionResource{
	{Version: "v1", Resource: "services"}, {Version: "v1", Resource: "configmaps"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	volcanoGroups, coschedulingGroups,
}

func ownedBy(owners []metav1.OwnerReference, names ...string) bool {
	return slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return slices.Contains(names, owner.Name) })
}

var propertyLine = regexp.MustCompile(`(?m)^((?:\\.|[^#=\\])(?:\\.|[^=\\])*)=(.*)$`)

var escaped = regexp.MustCompile(`\\(.)`)

// propertiesIn are those of a file in the format of Java's Properties.
func propertiesIn(text string) map[string]any {
	properties := map[string]any{}
	for _, line := range propertyLine.FindAllStringSubmatch(text, -1) {
		properties[escaped.ReplaceAllString(line[1], "$1")] = escaped.ReplaceAllString(line[2], "$1")
	}
	return properties
}

// generic is an object as a manifest has it.
func generic(s *env, object *corev1.Pod) map[string]any {
	s.Helper()
	encoded, err := json.Marshal(object)
	s.must(err)
	var decoded map[string]any
	s.must(json.Unmarshal(encoded, &decoded))
	return decoded
}

// lacking says where something lacks what is wanted; nothing where it has all of it. Each entry of a list that is wanted
// is a part of some entry, and a text is a part of one.
func lacking(got, want any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return "there is no " + at
		}
		for key, part := range want {
			if missing := lacking(got[key], part, strings.TrimPrefix(at+"."+key, ".")); missing != "" {
				return missing
			}
		}
		return ""
	case []any:
		got, _ := got.([]any)
		for _, part := range want {
			if !slices.ContainsFunc(got, func(entry any) bool { return lacking(entry, part, at) == "" }) {
				return at + " has no " + inJSON(part) + ", it is " + inJSON(got)
			}
		}
		return ""
	case string:
		if text, ok := got.(string); at == "warning" && ok && strings.Contains(text, want) {
			return ""
		}
	}
	if same(got, want) {
		return ""
	}
	return at + " is " + inJSON(got) + ", want " + inJSON(want)
}

// same reports whether two values are equal. Numbers of different types may be equal.
func same(got, want any) bool { return reflect.DeepEqual(got, want) || inJSON(got) == inJSON(want) }

func inJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
