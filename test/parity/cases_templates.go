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
  serviceAccountName: theirs
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
	{Name: "template-beside-the-driver", Driver: `
spec:
  initContainers:
  - {name: proxy, image: "proxy:1", restartPolicy: Always, startupProbe: {grpc: {port: 9}}}
  - {name: fetch, image: fetch, env: [{name: A, value: $(B)}], volumeMounts: [{name: shared, mountPath: /shared, mountPropagation: HostToContainer}]}
  containers:
  - name: driver
    stdin: true
    tty: true
    startupProbe: {exec: {command: ["true"]}, periodSeconds: 5}
    readinessProbe: {tcpSocket: {port: 4040}, failureThreshold: 10}
    volumeMounts: [{name: shared, mountPath: /shared, subPathExpr: $(A)}]
    terminationMessagePolicy: FallbackToLogsOnError
  - {name: side, image: side, ports: [{name: http, containerPort: 80}], resources: {requests: {cpu: 10m, memory: 10M}}}
  volumes:
  - {name: shared, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
  - {name: secret, secret: {secretName: s, defaultMode: 256, items: [{key: k, path: p, mode: 288}], optional: true}}
  - {name: labels, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}, {path: c, resourceFieldRef: {containerName: side, resource: limits.cpu, divisor: 1m}}]}}
  - {name: driver, csi: {driver: csi.example.com, readOnly: true, volumeAttributes: {a: b}}}
  - {name: host, hostPath: {path: /h, type: DirectoryOrCreate}}
`},
	{Name: "template-of-the-node", Driver: `
spec:
  hostNetwork: true
  hostPID: true
  dnsPolicy: ClusterFirstWithHostNet
  nodeName: node-1
  subdomain: sub
  setHostnameAsFQDN: true
  os: {name: linux}
  readinessGates: [{conditionType: example.com/ready}]
  terminationGracePeriodSeconds: 0
  preemptionPolicy: PreemptLowerPriority
  securityContext: {runAsNonRoot: true, runAsUser: 0, supplementalGroups: [1, 2]}
`},
	{Name: "template-privileged", Driver: `
spec:
  containers:
  - {name: driver}
  - {name: mounter, image: "mounter:1", securityContext: {privileged: true}}
  - {name: admin, image: "admin:1", securityContext: {capabilities: {add: [NET_ADMIN]}, readOnlyRootFilesystem: true}}
`},
	{Name: "template-of-privileged-driver", Driver: `
spec:
  containers: [{name: driver, securityContext: {privileged: true}}]
`, Conf: properties{"spark.kubernetes.driver.securityContext.allowPrivilegeEscalation": "true"}},
	{Name: "template-in-another-namespace", Driver: `
metadata: {namespace: elsewhere, name: theirs}
spec: {restartPolicy: Always}
`},
	{Name: "template-with-placeholders", Driver: `
metadata: {annotations: {b: "{{APP_ID}}"}}
spec:
  containers: [{name: driver, image: "spark:{{SPARK_VERSION}}", env: [{name: C, value: "{{APP_ID}}"}]}]
`},
	{Name: "template-of-empty-parts", Driver: `
metadata: {labels: {}, annotations: {}}
spec: {containers: [{name: driver, env: [], resources: {}, securityContext: {}}], volumes: [], nodeSelector: {}, tolerations: []}
`, Executor: "apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {}\n"},
	{Name: "executor-template-of-all-kinds", Executor: `
apiVersion: v1
kind: Pod
metadata: {name: theirs, labels: {spark-role: theirs}, finalizers: [example.com/kept]}
spec:
  restartPolicy: Always
  serviceAccountName: theirs
  initContainers: [{name: init, image: "init:1"}]
  containers: [{name: "", command: [theirs], securityContext: {runAsUser: 5}}, {name: side, image: "side:1"}]
  securityContext: {fsGroup: 185}
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {spark-role: executor}}}]}}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
  terminationGracePeriodSeconds: 7
`, Conf: properties{"spark.kubernetes.allocation.pods.allocator": "statefulset", "spark.executor.instances": "2"}},
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
	{Name: "template-container-without-name", Driver: `
spec:
  containers: [{image: "x:1", command: [sh]}, {name: side, image: "side:1"}]
`},
	{Name: "template-container-empty", Driver: `
spec:
  containers: [{}]
`},
	{Name: "template-init-container-named", Driver: `
spec:
  initContainers: [{name: a, image: "i:1"}]
  containers: [{name: b, image: "x:1"}, {name: c, image: "side:1"}]
`, Conf: properties{"spark.kubernetes.driver.podTemplateContainerName": "a"}},
	{Name: "template-metadata-of-spark", Driver: `
metadata:
  name: theirs
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: c, uid: u, controller: true, blockOwnerDeletion: true}]
  labels: {spark-version: "1", spark-app-name: mine, app.kubernetes.io/name: x, spark-exec-id: "1"}
  annotations: {a.b/c: "x\ny", empty: ""}
spec: {}
`, Conf: properties{"spark.kubernetes.driver.label.app.kubernetes.io/name": "y"}},
	{Name: "template-limits", Driver: `
spec:
  containers: [{name: a, resources: {limits: {cpu: 1.5, memory: 1e9, hugepages-2Mi: 4Mi, ephemeral-storage: 1.5Gi}, requests: {memory: 10, cpu: 0.1, hugepages-2Mi: 4Mi}}}]
`},
	{Name: "template-devices", Driver: `
spec:
  containers: [{name: a, resources: {limits: {nvidia.com/gpu: 4, a.com/x: 1}}}]
`, Conf: properties{"spark.driver.resource.gpu.amount": "2", "spark.driver.resource.gpu.vendor": "nvidia.com"}},
	{Name: "template-of-newer-fields", Driver: `
spec:
  schedulingGates: [{name: example.com/gate}]
  hostIPC: true
  resourceClaims: [{name: c, resourceClaimTemplateName: t}]
  dnsConfig: {searches: [a.b], options: [{name: ndots, value: "2"}, {name: edns0}]}
  containers:
  - name: a
    resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
    resources: {claims: [{name: c}]}
    envFrom: [{configMapRef: {name: c, optional: true}, prefix: P_}]
    env: [{name: IP, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['a']"}}}, {name: M, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}, {name: E}, {name: F, value: ""}]
    securityContext: {procMount: Default, seLinuxOptions: {level: "s0:c1,c2"}, appArmorProfile: {type: RuntimeDefault}, runAsUser: 0, runAsGroup: 0}
    volumeDevices: [{name: raw, devicePath: /dev/x}]
    ports: [{containerPort: 7078, name: mine, hostPort: 7078, protocol: UDP}]
    lifecycle: {postStart: {httpGet: {path: /x, port: http, host: h, httpHeaders: [{name: A, value: b}]}}}
    terminationMessagePath: /x
    stdinOnce: true
    livenessProbe: {httpGet: {path: /, port: 4040}, terminationGracePeriodSeconds: 5, failureThreshold: 1}
  volumes: [{name: raw, persistentVolumeClaim: {claimName: raw, readOnly: true}}, {name: img, image: {reference: "a:b", pullPolicy: Always}}, {name: e, emptyDir: {sizeLimit: 100Mi}}]
`},
	{Name: "template-mounts-volume-of-properties", Driver: `
spec:
  containers: [{name: a, volumeMounts: [{name: v, mountPath: /w}]}, {name: side, image: "s:1", volumeMounts: [{name: v, mountPath: /v}]}]
`, Conf: properties{driverVolume + "emptyDir.v.mount.path": "/v"}},
	{Name: "template-local-dirs", Driver: `
spec:
  containers: [{name: a, volumeMounts: [{name: spark-local-dir-2, mountPath: /two}, {name: spark-local-dir-1, mountPath: /one, subPath: s}]}]
  volumes: [{name: spark-local-dir-1, emptyDir: {}}, {name: spark-local-dir-2, hostPath: {path: /x}}]
`, Conf: properties{"spark.local.dir": "/ignored", "spark.kubernetes.local.dirs.tmpfs": "true", driverVolume + "emptyDir.spark-local-dir-3.mount.path": "/three"}},
	{Name: "template-environment-of-spark", Driver: `
spec:
  containers:
  - name: a
    env: [{name: SPARK_LOCAL_DIRS, value: /t}, {name: SPARK_CONF_DIR, value: /c}, {name: PYSPARK_PYTHON, value: p}, {name: Z, value: z}, {name: A, value: a}]
`, Resource: pythonFile, Conf: properties{"spark.pyspark.python": "q"}},
	{Name: "template-escalation", Driver: `
spec:
  securityContext: {sysctls: [{name: net.core.somaxconn, value: "1024"}], fsGroupChangePolicy: OnRootMismatch}
  containers: [{name: a, securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {add: [SYS_PTRACE], drop: [ALL]}}}]
`, Conf: properties{"spark.kubernetes.driver.securityContext.allowPrivilegeEscalation": "true"}},
	{Name: "both-templates-in-full", Driver: `
metadata: {labels: {l: "1"}}
spec: {containers: [{name: driver, args: []}], restartPolicy: OnFailure, terminationGracePeriodSeconds: 30}
`, Executor: `
apiVersion: v1
kind: Pod
metadata: {labels: {app.kubernetes.io/name: e}, annotations: {a: "b\nc"}}
spec:
  containers: [{name: e, image: "e:1", resources: {limits: {cpu: 1.5, memory: 1e3}}, env: [{name: E, value: ""}], ports: [{containerPort: 1, hostPort: 0}]}]
  tolerations: [{operator: Exists}]
  volumes: [{name: v, emptyDir: {sizeLimit: 1Gi}}, {name: w, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]
`, Conf: properties{"spark.kubernetes.executor.podTemplateContainerName": "none"}},
	{Name: "templates-of-named-containers", Driver: `
spec:
  containers:
  - {name: side, image: "side:1"}
  - {name: spark-kubernetes-driver, env: [{name: A, value: b}], ports: [{name: debug, containerPort: 5005}], workingDir: /work}
  - {name: other, image: "other:1"}
  nodeSelector: {pool: drivers}
`, Executor: `
apiVersion: v1
kind: Pod
metadata: {labels: {team: data}}
spec:
  containers: [{name: side, image: "side:1"}, {name: spark-kubernetes-executor, workingDir: /work, volumeMounts: [{name: v, mountPath: /v}]}]
  volumes: [{name: v, emptyDir: {}}]
`, Conf: properties{
		"spark.kubernetes.driver.podTemplateContainerName":   "spark-kubernetes-driver",
		"spark.kubernetes.executor.podTemplateContainerName": "spark-kubernetes-executor",
	}},
	{Name: "template-host-network", Driver: `
spec:
  hostNetwork: true
  dnsPolicy: Default
  containers: [{name: a, ports: [{containerPort: 9000}]}, {name: b, image: b, ports: [{containerPort: 9001, hostPort: 9001}]}]
`},
}
