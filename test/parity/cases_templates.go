package parity

// templates are cases of pod templates.
var templates = []Case{
	{Name: "template-empty", Driver: "spec: {restartPolicy: Always}"},
	{Name: "template-without-containers", Driver: `
apiVersion: v1
kind: Pod
metadata: {labels: {a: b}, annotations: {c: d}}
spec:
  tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
  priorityClassName: system-node-critical
  terminationGracePeriodSeconds: 120
`},
	{Name: "template-of-container", Driver: `
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: main
    image: ignored
    imagePullPolicy: Never
    command: [tini]
    args: [theirs]
    workingDir: /w
    env: [{name: SPARK_USER, value: theirs}, {name: B, valueFrom: {configMapKeyRef: {name: m, key: k}}}, {name: A, value: a}]
    envFrom: [{secretRef: {name: s}}]
    ports: [{name: metrics, containerPort: 8090}]
    resources:
      requests: {cpu: "7", memory: 7Gi, ephemeral-storage: 1Gi}
      limits: {cpu: "8", memory: 8Gi, ephemeral-storage: 2Gi, amd.com/gpu: "1"}
    volumeMounts: [{name: theirs, mountPath: /theirs}]
    livenessProbe: {httpGet: {path: /, port: 4040}, initialDelaySeconds: 3}
    lifecycle: {preStop: {exec: {command: [sleep, "1"]}}}
  volumes: [{name: theirs, configMap: {name: c}}]
`, Conf: properties{"spark.kubernetes.driverEnv.A": "ours"}},
	{Name: "template-cpu-limit-displaced", Driver: `
spec:
  containers: [{name: main, resources: {limits: {cpu: "8"}}}]
`, Conf: properties{"spark.kubernetes.driver.limit.cores": "2"}},
	{Name: "template-sidecar-first", Driver: `
apiVersion: v1
kind: Pod
spec:
  initContainers: [{name: init, image: "init:1", command: ["true"]}]
  containers:
  - {name: side, image: "side:latest", resources: {limits: {cpu: 100m}}}
  - {name: main, args: [x]}
  - {name: last, image: "last:1"}
`, Conf: properties{"spark.kubernetes.driver.podTemplateContainerName": "main"}},
	{Name: "template-container-unnamed", Driver: `
spec:
  containers:
  - {name: first, image: "first:1"}
  - {name: second, image: "second:1"}
`},
	{Name: "template-container-missing", Driver: `
spec:
  containers:
  - {name: first, image: "first:1"}
  - {name: second, image: "second:1"}
`, Conf: properties{"spark.kubernetes.driver.podTemplateContainerName": "third"}},
	{Name: "template-metadata", Driver: `
apiVersion: v1
kind: Pod
metadata:
  name: theirs
  generateName: theirs-
  labels: {a: theirs, b: theirs, spark-role: nope, spark-app-selector: x}
  annotations: {a: theirs, b: theirs}
spec: {restartPolicy: Never}
`, Conf: properties{"spark.kubernetes.driver.label.a": "ours", "spark.kubernetes.driver.annotation.a": "ours"}},
	{Name: "template-scheduling", Driver: `
apiVersion: v1
kind: Pod
spec:
  restartPolicy: Always
  schedulerName: theirs
  serviceAccountName: theirs
  nodeSelector: {a: theirs, b: theirs}
  imagePullSecrets: [{name: theirs}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {spark-role: driver}}}}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}
  hostAliases: [{ip: 10.1.2.3, hostnames: [db]}]
  dnsPolicy: None
  dnsConfig: {nameservers: [10.0.0.10]}
  activeDeadlineSeconds: 3600
  shareProcessNamespace: true
  enableServiceLinks: false
  automountServiceAccountToken: false
  hostname: h
`, Conf: properties{"spark.kubernetes.node.selector.a": "ours", "spark.kubernetes.container.image.pullSecrets": "ours"}},
	{Name: "template-scheduling-displaced", Driver: `
spec: {schedulerName: theirs, serviceAccountName: theirs, hostNetwork: false}
`, Conf: properties{
		"spark.kubernetes.scheduler.name": "ours", "spark.kubernetes.authenticate.driver.serviceAccountName": "ours",
	}},
	{Name: "template-security", Driver: `
spec:
  securityContext: {runAsUser: 185, fsGroup: 185, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: true, capabilities: {drop: [ALL]}}
  - name: side
    image: side:1
    securityContext: {allowPrivilegeEscalation: true}
`},
	{Name: "template-volumes", Driver: `
spec:
  containers:
  - name: main
    volumeMounts: [{name: spark-local-dir-9, mountPath: /nine}, {name: tokens, mountPath: /tokens, readOnly: true}]
  - {name: side, image: "side:1", volumeMounts: [{name: spark-local-dir-9, mountPath: /nine}]}
  volumes:
  - {name: spark-local-dir-9, emptyDir: {medium: Memory}}
  - name: tokens
    projected: {sources: [{serviceAccountToken: {path: t, audience: a}}, {downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}]}
  - {name: spare, persistentVolumeClaim: {claimName: spare}}
`, Conf: properties{"spark.kubernetes.driver.volumes.emptyDir.e.mount.path": "/e"}},
	{Name: "executor-template", Executor: `
apiVersion: v1
kind: Pod
metadata: {labels: {x: z}, annotations: {y: "1"}}
spec:
  tolerations: [{key: spot, operator: Exists}]
  containers:
  - {name: executor, env: [{name: A, value: b}], resources: {requests: {ephemeral-storage: 1Gi}}, volumeMounts: [{name: v, mountPath: /v}]}
  - {name: side, image: "side:1"}
  volumes: [{name: v, emptyDir: {}}]
`, Conf: properties{"spark.kubernetes.executor.podTemplateContainerName": "executor"}},
	{Name: "both-templates", Resource: pythonFile, Driver: `
spec: {nodeSelector: {pool: drivers}}
`, Executor: `
apiVersion: v1
kind: Pod
spec: {nodeSelector: {pool: executors}, priorityClassName: low}
`},
}
