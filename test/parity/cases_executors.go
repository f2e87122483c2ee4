package parity

// ExecutorCases are at least one for each field whose way to executors is a template, or none. The first asks for nothing.
var ExecutorCases = []ExecutorCase{
	{About: "nothing"},
	{Field: "executor.template", Spec: `
executor:
  template:
    metadata: {labels: {team: data}, annotations: {note: kept}}
    spec:
      containers:
      - {name: side, image: "side:1"}
      - {name: spark-kubernetes-executor, workingDir: /work, resources: {limits: {ephemeral-storage: 1Gi}}}
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
`, Pod: `
metadata: {labels: {team: data}, annotations: {note: kept}}
spec: {containers: {side: {image: "side:1"}}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}
`, Container: "{workingDir: /work, resources: {limits: {ephemeral-storage: 1Gi}}}"},
	{Field: "executor.template", About: "without containers", Spec: `
executor:
  template: {spec: {enableServiceLinks: false}}
  sidecars: [{name: logs, image: "logs:1"}]
`, Pod: "spec: {enableServiceLinks: false, containers: {logs: {image: 'logs:1'}}}", Container: "{args: [executor], image: apache/spark:4.1.0}"},
	{Field: "executor.template", About: "beside all other fields", Spec: `
volumes: [{name: data, emptyDir: {}}]
executor:
  template:
    metadata: {labels: {team: data}}
    spec:
      initContainers: [{name: first, image: "first:1"}]
      containers:
      - {name: side, image: "side:1"}
      - name: spark-kubernetes-executor
        env: [{name: STAGE, value: test}, {name: KEPT, value: kept}]
        ports: [{name: http, containerPort: 8080}]
        volumeMounts: [{name: cache, mountPath: /cache}]
        securityContext: {runAsUser: 5}
      volumes: [{name: cache, emptyDir: {}}]
      tolerations: [{key: spot, operator: Exists}]
      nodeSelector: {disk: ssd, pool: any}
      securityContext: {fsGroup: 1}
      hostAliases: [{ip: 10.0.0.2, hostnames: [cache]}]
  labels: {tier: batch}
  env: [{name: STAGE, value: production}]
  ports: [{name: debug, protocol: TCP, containerPort: 5005}]
  volumeMounts: [{name: data, mountPath: /data}]
  securityContext: {runAsNonRoot: true}
  podSecurityContext: {fsGroup: 185}
  tolerations: [{key: spark, operator: Exists}]
  nodeSelector: {pool: executors}
  hostAliases: [{ip: 10.0.0.1, hostnames: [db]}]
  initContainers: [{name: second, image: "second:1"}]
  sidecars: [{name: logs, image: "logs:1"}]
`, Pod: `
metadata: {labels: {team: data, tier: batch}}
spec:
  initContainers: {first: {image: "first:1"}, second: {image: "second:1"}}
  containers: {side: {image: "side:1"}, logs: {image: "logs:1"}}
  volumes: {cache: {emptyDir: {}}, data: {emptyDir: {}}}
  tolerations: [{key: spot, operator: Exists}, {key: spark, operator: Exists}]
  nodeSelector: {disk: ssd, pool: executors}
  securityContext: {fsGroup: 185}
  hostAliases: [{ip: 10.0.0.2, hostnames: [cache]}, {ip: 10.0.0.1, hostnames: [db]}]
`, Container: `
env: {STAGE: production, KEPT: kept}
ports: {"8080": {name: http}, "5005": {name: debug}}
volumeMounts: {/cache: {name: cache}, /data: {name: data}}
securityContext: {runAsNonRoot: true}
`},
	{Field: "executor.cores", Spec: "executor: {cores: 3}",
		Container: "{env: {SPARK_EXECUTOR_CORES: '3'}, resources: {requests: {cpu: '3'}}}"},
	{Field: "executor.cores", About: "of a fraction", Spec: "executor: {cores: 0.5}",
		Container: "{env: {SPARK_EXECUTOR_CORES: '1'}, resources: {requests: {cpu: '0.5'}}}"},
	{Field: "executor.coreRequest", Spec: "executor: {cores: 1, coreRequest: 250m}", Container: "resources: {requests: {cpu: 250m}}"},
	{Field: "executor.coreLimit", Spec: "executor: {cores: 1, coreLimit: 1200m}", Container: "resources: {limits: {cpu: 1200m}}"},
	{Field: "executor.memory", Spec: "executor: {memory: 8g}",
		Container: "{env: {SPARK_EXECUTOR_MEMORY: 8192m}, resources: {requests: {memory: 9011Mi}, limits: {memory: 9011Mi}}}"},
	{Field: "executor.memoryOverhead", Spec: "executor: {memory: 1g, memoryOverhead: 100m}", Container: "resources: {limits: {memory: 1124Mi}}"},
	{Field: "executor.memoryLimit", Spec: "executor: {memory: 1g, memoryLimit: 4g}", Container: "resources: {limits: {memory: 4Gi}}"},
	{Field: "executor.gpu", Spec: "executor: {gpu: {name: nvidia.com/gpu, quantity: 2}}", Container: "resources: {limits: {nvidia.com/gpu: '2'}}"},
	{Field: "executor.image", Spec: "executor: {image: 'own:1'}", Container: "image: own:1"},
	{Field: "executor.configMaps", Spec: "executor: {configMaps: [{name: rules.v1, path: /etc/rules}]}", Pod: `
spec: {volumes: {rules-v1-9cfa5a0c-vol: {configMap: {name: rules.v1}}}}
`, Container: "volumeMounts: {/etc/rules: {name: rules-v1-9cfa5a0c-vol}}"},
	{Field: "executor.secrets", Spec: "executor: {secrets: [{name: gcp, path: /mnt/gcp, secretType: GCPServiceAccount}, {name: plain, path: /plain}]}",
		Pod: "spec: {volumes: {gcp-volume: {secret: {secretName: gcp}}, plain-volume: {secret: {secretName: plain}}}}", Container: `
env: {GOOGLE_APPLICATION_CREDENTIALS: /mnt/gcp/key.json}
volumeMounts: {/mnt/gcp: {name: gcp-volume}, /plain: {name: plain-volume}}
`},
	{Field: "executor.secrets", About: "whose name makes no volume's", Spec: "executor: {secrets: [{name: token.v1, path: /token, secretType: HadoopDelegationToken}]}",
		Pod:       "spec: {volumes: {token-v1-05ed9f0f-volume: {secret: {secretName: token.v1}}}}",
		Container: "{env: {HADOOP_TOKEN_FILE_LOCATION: /token/hadoop.token}, volumeMounts: {/token: {name: token-v1-05ed9f0f-volume}}}"},
	{Field: "executor.env", Spec: `
executor:
  env:
  - {name: STAGE, value: production}
  - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
  - {name: SPARK_USER, value: batch}
  - {name: WHO, value: "$(SPARK_USER) on $(STAGE)"}
`, Container: `env: {STAGE: production, NODE: '{"fieldRef":{"fieldPath":"spec.nodeName"}}', SPARK_USER: batch, WHO: batch on production}`},
	{Field: "executor.env", About: "twice", Spec: "executor: {env: [{name: STAGE, value: one}, {name: STAGE, value: two}]}", Container: "env: {STAGE: two}"},
	{Field: "executor.env", About: "in the place of a property", Spec: `
sparkConf: {spark.executorEnv.STAGE: test}
executor: {env: [{name: STAGE, value: production}]}
`, Container: "env: {STAGE: production}"},
	{Field: "executor.env", About: "from elsewhere in the place of a property", Spec: `
sparkConf: {spark.executorEnv.NODE: none}
executor: {env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}
`, Container: `env: {NODE: '{"fieldRef":{"fieldPath":"spec.nodeName"}}'}`},
	{Field: "executor.env", About: "referring to what refers to Spark's", Spec: `
executor: {env: [{name: WHO, value: "by $(SPARK_USER)"}, {name: TITLE, value: "made $(WHO)"}]}
`, Container: "env: {WHO: by spark, TITLE: made by spark}"},
	{Field: "executor.env", About: "of nothing in the place of a property", Spec: `
sparkConf: {spark.executorEnv.STAGE: test}
executor: {env: [{name: STAGE}]}
`, Container: "env: {STAGE: ''}"},
	{Field: "executor.env", About: "referring to a property", Spec: `
sparkConf: {spark.executorEnv.STAGE: test}
executor: {envVars: {WHERE: here}, env: [{name: TITLE, value: "$(STAGE) $(WHERE) $$(WHERE)"}]}
`, Container: "env: {TITLE: test here $(WHERE)}"},
	{Field: "executor.env", About: "referring to the property that it takes the place of", Spec: `
sparkConf: {spark.executorEnv.FOLDERS: /theirs}
executor: {env: [{name: FOLDERS, value: "$(FOLDERS):/own"}]}
`, Container: "env: {FOLDERS: '/theirs:/own'}"},
	{Field: "executor.env", About: "in the place of a secret's", Spec: `
executor: {envSecretKeyRefs: {PASSWORD: {name: plain, key: password}}, env: [{name: PASSWORD, value: hush}]}
`, Container: "env: {PASSWORD: hush}"},
	{Field: "executor.env", About: "referring to a secret's", Spec: `
executor: {envSecretKeyRefs: {PASSWORD: {name: plain, key: password}}, env: [{name: LOGIN, value: "me:$(PASSWORD)"}]}
`, Container: `env: {LOGIN: 'me:{"secretKeyRef":{"key":"password","name":"plain"}}'}`},
	{Field: "executor.env", About: "of Spark's from elsewhere", Spec: `
executor: {env: [{name: SPARK_USER, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}
`, Container: `env: {SPARK_USER: '{"fieldRef":{"fieldPath":"spec.nodeName"}}'}`},
	{Field: "executor.env", About: "of Spark's scratch directories", Spec: "executor: {env: [{name: SPARK_LOCAL_DIRS, value: /scratch}]}",
		Container: "env: {SPARK_LOCAL_DIRS: /scratch}"},
	{Field: "executor.env", About: "of the address", Spec: "executor: {env: [{name: SPARK_EXECUTOR_POD_IP, value: 10.0.0.1}]}",
		Container: "env: {SPARK_EXECUTOR_POD_IP: 10.0.0.1}"},
	{Field: "executor.env", About: "referring to the Pod's name", Spec: `executor: {env: [{name: WHERE, value: "in $(SPARK_EXECUTOR_POD_NAME)"}]}`,
		Container: `env: {WHERE: 'in {"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}'}`},
	{Field: "executor.env", About: "of Java options", Spec: "executor: {javaOptions: -Da=b, env: [{name: SPARK_JAVA_OPT_0, value: -Dc=d}]}",
		Container: "env: {SPARK_JAVA_OPT_0: -Dc=d}"},
	{Field: "executor.env", About: "of the class path", Spec: "executor: {env: [{name: SPARK_CLASSPATH, value: /own}]}", Container: "env: {SPARK_CLASSPATH: /own}"},
	{Field: "executor.env", About: "of the class path beside a property", Spec: `
sparkConf: {spark.executor.extraClassPath: /theirs}
executor: {env: [{name: SPARK_CLASSPATH, value: /own}]}
`, Container: "env: {SPARK_CLASSPATH: /own}"},
	{Field: "executor.envVars", Spec: "executor: {envVars: {STAGE: production}}", Container: "env: {STAGE: production}"},
	{Field: "executor.envFrom", Spec: "executor: {envFrom: [{secretRef: {name: passwords}}]}", Container: "envFrom: [{secretRef: {name: passwords}}]"},
	{Field: "executor.envSecretKeyRefs", Spec: "executor: {envSecretKeyRefs: {PASSWORD: {name: plain, key: password}}}",
		Container: `env: {PASSWORD: '{"secretKeyRef":{"key":"password","name":"plain"}}'}`},
	{Field: "executor.labels", Spec: "executor: {labels: {tier: batch}}", Pod: "metadata: {labels: {tier: batch}}"},
	{Field: "executor.annotations", Spec: "executor: {annotations: {example.com/cost: '42'}}", Pod: "metadata: {annotations: {example.com/cost: '42'}}"},
	{Field: "executor.volumeMounts", Spec: `
volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
executor: {volumeMounts: [{name: data, mountPath: /data, subPath: in, readOnly: true}]}
`, Pod: "spec: {volumes: {data: {persistentVolumeClaim: {claimName: data}}}}", Container: "volumeMounts: {/data: {name: data, subPath: in, readOnly: true}}"},
	{Field: "executor.volumeMounts", About: "of scratch directories", Spec: `
volumes: [{name: spark-local-dir-1, emptyDir: {medium: Memory, sizeLimit: 64Mi}}]
executor: {volumeMounts: [{name: spark-local-dir-1, mountPath: /scratch}]}
`, Pod: "spec: {volumes: {spark-local-dir-1: {emptyDir: {medium: Memory, sizeLimit: 64Mi}}}}",
		Container: "{env: {SPARK_LOCAL_DIRS: /scratch}, volumeMounts: {/scratch: {name: spark-local-dir-1}}}"},
	{Field: "executor.volumeMounts", About: "of a scratch directory on the host", Spec: `
volumes: [{name: spark-local-dir-1, hostPath: {path: /mnt/disk, type: Directory}}]
executor: {volumeMounts: [{name: spark-local-dir-1, mountPath: /scratch}]}
`, Pod: "spec: {volumes: {spark-local-dir-1: {hostPath: {path: /mnt/disk, type: Directory}}}}",
		Container: "{env: {SPARK_LOCAL_DIRS: /scratch}, volumeMounts: {/scratch: {name: spark-local-dir-1}}}"},
	{Field: "executor.volumeMounts", About: "of a scratch directory of a claim", Spec: `
volumes: [{name: spark-local-dir-1, persistentVolumeClaim: {claimName: scratch}}]
executor: {volumeMounts: [{name: spark-local-dir-1, mountPath: /scratch, subPath: in}]}
`, Pod: "spec: {volumes: {spark-local-dir-1: {persistentVolumeClaim: {claimName: scratch}}}}",
		Container: "{env: {SPARK_LOCAL_DIRS: /scratch}, volumeMounts: {/scratch: {name: spark-local-dir-1, subPath: in}}}"},
	{Field: "executor.volumeMounts", About: "of a scratch directory that no property describes", Spec: `
volumes: [{name: spark-local-dir-1, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]
executor: {volumeMounts: [{name: spark-local-dir-1, mountPath: /scratch}]}
`, Pod: "spec: {volumes: {spark-local-dir-1: {ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}}}",
		Container: "{env: {SPARK_LOCAL_DIRS: /scratch}, volumeMounts: {/scratch: {name: spark-local-dir-1}}}"},
	{Field: "executor.volumeMounts", About: "of no volume", Spec: "executor: {volumeMounts: [{name: data, mountPath: /data}]}",
		Container: "volumeMounts: {/data: {name: data}}"},
	{Field: "executor.affinity", Spec: `
executor: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}]}}}
`, Pod: "spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}]}}}"},
	{Field: "executor.tolerations", Spec: "executor: {tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]}",
		Pod: "spec: {tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]}"},
	{Field: "executor.podSecurityContext", Spec: "executor: {podSecurityContext: {fsGroup: 185, runAsNonRoot: true}}",
		Pod: "spec: {securityContext: {fsGroup: 185, runAsNonRoot: true}}"},
	{Field: "executor.securityContext", Spec: `
executor: {securityContext: {runAsUser: 185, allowPrivilegeEscalation: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}}
`, Container: "securityContext: {runAsUser: 185, allowPrivilegeEscalation: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}"},
	{Field: "executor.securityContext", About: "privileged", Spec: "executor: {securityContext: {privileged: true}}", Container: "securityContext: {privileged: true}"},
	{Field: "executor.schedulerName", Spec: "executor: {schedulerName: other}", Pod: "spec: {schedulerName: other}"},
	{Field: "executor.sidecars", Spec: "executor: {sidecars: [{name: logs, image: 'logs:1'}]}", Pod: "spec: {containers: {logs: {image: 'logs:1'}}}"},
	{Field: "executor.initContainers", Spec: "executor: {initContainers: [{name: prepare, image: 'prepare:1'}]}",
		Pod: "spec: {initContainers: {prepare: {image: 'prepare:1'}}}"},
	{Field: "executor.hostNetwork", Spec: "executor: {hostNetwork: true}", Pod: "spec: {hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}"},
	{Field: "executor.nodeSelector", Spec: "executor: {nodeSelector: {pool: executors}}", Pod: "spec: {nodeSelector: {pool: executors}}"},
	{Field: "executor.dnsConfig", Spec: "executor: {dnsConfig: {options: [{name: ndots, value: '2'}]}}", Pod: "spec: {dnsConfig: {options: [{name: ndots, value: '2'}]}}"},
	{Field: "executor.terminationGracePeriodSeconds", Spec: "executor: {terminationGracePeriodSeconds: 90}", Pod: "spec: {terminationGracePeriodSeconds: 90}"},
	{Field: "executor.serviceAccount", Spec: "executor: {serviceAccount: worker}", Pod: "spec: {serviceAccountName: worker}"},
	{Field: "executor.hostAliases", Spec: "executor: {hostAliases: [{ip: 10.0.0.1, hostnames: [db]}]}", Pod: "spec: {hostAliases: [{ip: 10.0.0.1, hostnames: [db]}]}"},
	{Field: "executor.shareProcessNamespace", Spec: "executor: {shareProcessNamespace: true}", Pod: "spec: {shareProcessNamespace: true}"},
	{Field: "executor.runtimeClassName", Spec: "executor: {runtimeClassName: sandboxed}", Pod: "spec: {runtimeClassName: sandboxed}"},
	{Field: "executor.javaOptions", Spec: "executor: {javaOptions: '-Da=b -Dc=d'}", Container: "env: {SPARK_JAVA_OPT_0: -Da=b, SPARK_JAVA_OPT_1: -Dc=d}"},
	{Field: "executor.lifecycle", Spec: "executor: {lifecycle: {preStop: {exec: {command: [sleep, '5']}}}}", Container: "lifecycle: {preStop: {exec: {command: [sleep, '5']}}}"},
	{Field: "executor.lifecycle", About: "with decommissioning", Spec: `
sparkConf: {spark.decommission.enabled: "true"}
executor: {lifecycle: {preStop: {exec: {command: [sleep, '5']}}}}
`, Container: "lifecycle: {preStop: {exec: {command: [sleep, '5']}}}"},
	{Field: "executor.lifecycle", About: "after the start, with decommissioning", Spec: `
sparkConf: {spark.decommission.enabled: "true"}
executor: {lifecycle: {postStart: {exec: {command: [sleep, '5']}}}}
`, Container: "lifecycle: {postStart: {exec: {command: [sleep, '5']}}}"},
	{Field: "executor.ports", Spec: "executor: {ports: [{name: debug, protocol: TCP, containerPort: 5005}, {name: stats, protocol: UDP, containerPort: 8125}]}",
		Container: "ports: {'5005': {name: debug, protocol: TCP}, '7079': {name: blockmanager}, '8125': {name: stats, protocol: UDP}}"},
	{Field: "executor.priorityClassName", Spec: "executor: {priorityClassName: system-node-critical}", Pod: "spec: {priorityClassName: system-node-critical}"},

	{Field: "image", Spec: "image: other:1", Container: "image: other:1"},
	{Field: "imagePullPolicy", Spec: "imagePullPolicy: Always", Container: "imagePullPolicy: Always"},
	{Field: "imagePullSecrets", Spec: "imagePullSecrets: [one, two]", Pod: "spec: {imagePullSecrets: [{name: one}, {name: two}]}"},
	{Field: "sparkConfigMap", Spec: "sparkConfigMap: files", Pod: "spec: {volumes: {spark-configmap-volume: {configMap: {name: files}}}}",
		Container: "{env: {SPARK_CONF_DIR: /etc/spark/conf}, volumeMounts: {/etc/spark/conf: {name: spark-configmap-volume}}}"},
	{Field: "hadoopConfigMap", Spec: "hadoopConfigMap: files", Pod: "spec: {volumes: {hadoop-configmap-volume: {configMap: {name: files}}}}",
		Container: "{env: {HADOOP_CONF_DIR: /etc/hadoop/conf}, volumeMounts: {/etc/hadoop/conf: {name: hadoop-configmap-volume}}}"},
	{Field: "hadoopConfigMap", About: "beside a property", Spec: `
sparkConf: {spark.executorEnv.HADOOP_CONF_DIR: /theirs}
hadoopConfigMap: files
`, Container: "env: {HADOOP_CONF_DIR: /etc/hadoop/conf}"},
	{Field: "volumes", Spec: `
volumes: [{name: shared, emptyDir: {}}]
executor: {sidecars: [{name: logs, image: "logs:1", volumeMounts: [{name: shared, mountPath: /shared}]}]}
`, Pod: "spec: {volumes: {shared: {emptyDir: {}}}, containers: {logs: {volumeMounts: {/shared: {name: shared}}}}}"},
	{Field: "sparkConf", Spec: `
sparkConf: {spark.memory.offHeap.enabled: "true", spark.memory.offHeap.size: 1g, spark.executor.memoryOverheadFactor: "0.6"}
executor: {memory: 1g}
`, Container: "resources: {limits: {memory: 2662Mi}}"},
	{Field: "sparkConf", About: "of Python's memory", Spec: `
type: Python
mainApplicationFile: local:///main.py
sparkConf: {spark.executor.pyspark.memory: 512m}
executor: {memory: 2g}
`, Container: "resources: {limits: {memory: 3379Mi}}"},
	{Field: "nodeSelector", Spec: "nodeSelector: {pool: all}", Pod: "spec: {nodeSelector: {pool: all}}"},
	{Field: "memoryOverheadFactor", Spec: "{memoryOverheadFactor: '0.5', executor: {memory: 1g}}", Container: "resources: {limits: {memory: 1536Mi}}"},
	{Field: "batchScheduler", Spec: "batchScheduler: volcano", Pod: "spec: {schedulerName: volcano}"},
	{Field: "batchSchedulerOptions.priorityClassName", Spec: "batchSchedulerOptions: {priorityClassName: system-node-critical}",
		Pod: "spec: {priorityClassName: system-node-critical}"},
	{Field: "monitoring.exposeExecutorMetrics", Spec: `
monitoring: {exposeDriverMetrics: false, exposeExecutorMetrics: true, prometheus: {jmxExporterJar: /exporter.jar}}
`, Pod: `
metadata: {annotations: {prometheus.io/scrape: "true", prometheus.io/port: "8090", prometheus.io/path: /metrics}}
spec: {volumes: {spark-pi-prom-conf-vol: {configMap: {name: spark-pi-prom-conf}}}}
`, Container: `
env: {SPARK_JAVA_OPT_0: "-javaagent:/exporter.jar=8090:/etc/metrics/conf/prometheus.yaml"}
volumeMounts: {/etc/metrics/conf: {name: spark-pi-prom-conf-vol}}
`},
	{Field: "monitoring.prometheus.portName", Spec: `
monitoring: {exposeDriverMetrics: false, exposeExecutorMetrics: true, prometheus: {jmxExporterJar: /exporter.jar, port: 9000, portName: scraped}}
`, Container: "ports: {'9000': {name: scraped, protocol: TCP}}"},
}
