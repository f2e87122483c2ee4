package parity

const (
	driverVolume = "spark.kubernetes.driver.volumes."
	fileUpload   = "file:///home/me/app.jar"
)

// refused are cases that spark-submit refuses, on some version at least.
var refused = []Case{
	// The application.
	{Name: "no-class", Resource: "local:///opt/spark/app.jar", Refused: "mainClass"},
	{Name: "class-in-properties-only", Resource: "local:///opt/spark/app.jar", Refused: "mainClass", Conf: properties{"spark.class": "a.B"}},
	{Name: "jar-of-the-host", Class: "a.B", Resource: fileUpload, Refused: "resource"},
	{Name: "jar-without-scheme", Class: "a.B", Resource: "/home/me/app.jar", Refused: "resource"},
	{Name: "python-of-the-host", Resource: "/home/me/app.py", Refused: "resource"},
	{Name: "jars-of-the-host", Conf: properties{"spark.jars": "local:///a.jar,/home/me/b.jar"}, Refused: "spark.jars"},
	{Name: "files-of-the-host", Conf: properties{"spark.files": "file:/home/me/x"}, Refused: "spark.files"},
	{Name: "archives-of-the-host", Conf: properties{"spark.archives": "/home/me/x.tgz#x"}, Refused: "spark.archives"},
	{Name: "py-files-of-the-host", Resource: pythonFile, Conf: properties{"spark.submit.pyFiles": "x.py"}, Refused: "spark.submit.pyFiles"},

	// Sizes and numbers.
	{Name: "memory-fraction", Conf: properties{"spark.driver.memory": "1.5g"}, Refused: "spark.driver.memory"},
	{Name: "memory-no-number", Conf: properties{"spark.driver.memory": "much"}, Refused: "spark.driver.memory"},
	{Name: "memory-zero", Conf: properties{"spark.driver.memory": "0g"}, Refused: "spark.driver.memory"},
	{Name: "memory-negative", Conf: properties{"spark.driver.memory": "-1g"}, Refused: "spark.driver.memory"},
	{Name: "memory-empty", Conf: properties{"spark.driver.memory": ""}, Refused: "spark.driver.memory"},
	{Name: "memory-spaced", Conf: properties{"spark.driver.memory": "4 g"}, Refused: "spark.driver.memory"},
	{Name: "memory-of-executor-zero", Conf: properties{"spark.executor.memory": "0"}, Refused: "spark.executor.memory"},
	{Name: "memory-of-executor-fraction", Conf: properties{"spark.executor.memory": "0.5g"}, Refused: "spark.executor.memory"},
	{Name: "overhead-fraction", Conf: properties{"spark.driver.memoryOverhead": "0.5g"}, Refused: "spark.driver.memoryOverhead"},
	{Name: "overhead-negative", Conf: properties{"spark.driver.memoryOverhead": "-1"}, Refused: "spark.driver.memoryOverhead"},
	{Name: "overhead-at-least-nonsense", Conf: properties{"spark.driver.minMemoryOverhead": "x"}, Refused: "spark.driver.minMemoryOverhead"},
	{Name: "overhead-at-least-fraction", Conf: properties{"spark.driver.minMemoryOverhead": "0.5g"}, Refused: "spark.driver.minMemoryOverhead"},
	{Name: "overhead-factor-zero", Conf: properties{"spark.driver.memoryOverheadFactor": "0"}, Refused: "spark.driver.memoryOverheadFactor"},
	{Name: "overhead-factor-percent", Conf: properties{"spark.driver.memoryOverheadFactor": "10%"}, Refused: "spark.driver.memoryOverheadFactor"},
	{Name: "overhead-factor-negative", Conf: properties{"spark.kubernetes.memoryOverheadFactor": "-0.1"}, Refused: "spark.kubernetes.memoryOverheadFactor"},
	{Name: "overhead-factor-nonsense", Conf: properties{"spark.kubernetes.memoryOverheadFactor": "a"}, Refused: "spark.kubernetes.memoryOverheadFactor"},
	{Name: "cores-zero", Conf: properties{"spark.driver.cores": "0"}, Refused: "spark.driver.cores"},
	{Name: "cores-fraction", Conf: properties{"spark.driver.cores": "1.5"}, Refused: "spark.driver.cores"},
	{Name: "cores-of-executor-zero", Conf: properties{"spark.executor.cores": "0"}, Refused: "spark.executor.cores"},
	{Name: "cores-requested-nonsense", Conf: properties{"spark.kubernetes.driver.request.cores": "two"}, Refused: "spark.kubernetes.driver.request.cores"},
	{Name: "cores-limited-nonsense", Conf: properties{"spark.kubernetes.driver.limit.cores": "2 cores"}, Refused: "spark.kubernetes.driver.limit.cores"},
	{Name: "executors-zero", Conf: properties{"spark.executor.instances": "0"}, Refused: "spark.executor.instances"},
	{Name: "executors-negative", Conf: properties{"spark.executor.instances": "-1"}, Refused: "spark.executor.instances"},
	{Name: "executors-nonsense", Conf: properties{"spark.executor.instances": "many"}, Refused: "spark.executor.instances"},
	{Name: "dynamic-nonsense", Conf: properties{"spark.dynamicAllocation.enabled": "yes", "spark.executor.instances": "2"}, Refused: "spark.dynamicAllocation.enabled"},
	{Name: "device-without-vendor", Conf: properties{"spark.driver.resource.gpu.amount": "1"}, Refused: "spark.driver.resource.gpu.amount"},
	{Name: "device-without-amount", Conf: properties{"spark.driver.resource.gpu.vendor": "nvidia.com"}, Refused: "spark.driver.resource.gpu.amount"},
	{Name: "device-fraction", Conf: properties{
		"spark.driver.resource.gpu.amount": "0.5", "spark.driver.resource.gpu.vendor": "nvidia.com",
	}, Refused: "spark.driver.resource.gpu.amount"},

	// Ports, addresses and the Service.
	{Name: "port-nonsense", Conf: properties{"spark.driver.port": "http"}, Refused: "spark.driver.port"},
	{Name: "port-zero", Conf: properties{"spark.driver.port": "0"}, Refused: "spark.driver.port"},
	{Name: "port-of-block-manager-zero", Conf: properties{"spark.driver.blockManager.port": "0"}, Refused: "spark.driver.blockManager.port"},
	{Name: "port-of-ui-too-large", Conf: properties{"spark.ui.port": "70000"}, Refused: "spark.ui.port"},
	{Name: "ports-equal", Conf: properties{"spark.driver.port": "7079"}, Refused: "spark.driver.port"},
	{Name: "bind-address", Conf: properties{"spark.driver.bindAddress": "0.0.0.0"}, Refused: "spark.driver.bindAddress"},
	{Name: "ip-family-policy-unknown", Conf: properties{
		"spark.kubernetes.driver.service.ipFamilyPolicy": "DualStack",
	}, Refused: "spark.kubernetes.driver.service.ipFamilyPolicy"},
	{Name: "ip-families-unknown", Conf: properties{
		"spark.kubernetes.driver.service.ipFamilies": "ipv4",
	}, Refused: "spark.kubernetes.driver.service.ipFamilies"},
	{Name: "master-of-yarn", Conf: properties{"spark.master": "yarn"}, Refused: "spark.master"},
	{Name: "client-mode", Conf: properties{"spark.submit.deployMode": "client"}, Refused: "spark.submit.deployMode"},

	// Labels, images, pods.
	{Name: "label-of-spark", Conf: properties{"spark.kubernetes.driver.label.spark-role": "x"}, Refused: "spark.kubernetes.driver.label.spark-role"},
	{Name: "label-of-selector", Conf: properties{
		"spark.kubernetes.driver.label.spark-app-selector": "x",
	}, Refused: "spark.kubernetes.driver.label.spark-app-selector"},
	{Name: "label-of-name", Conf: properties{"spark.kubernetes.driver.label.spark-app-name": "x"}, Refused: "spark.kubernetes.driver.label.spark-app-name"},
	{Name: "label-of-version", Conf: properties{"spark.kubernetes.driver.label.spark-version": "x"}, Refused: "spark.kubernetes.driver.label.spark-version"},
	{Name: "label-no-value", Conf: properties{"spark.kubernetes.driver.label.a": "b c"}, Refused: "spark.kubernetes.driver.label.a"},
	{Name: "image-missing", Conf: properties{imageKey: absent}, Refused: imageKey},
	{Name: "image-of-executors-only", Conf: properties{
		imageKey: absent, "spark.kubernetes.executor.container.image": "e:1",
	}, Refused: imageKey},
	{Name: "image-pull-unknown", Conf: properties{
		"spark.kubernetes.container.image.pullPolicy": "always",
	}, Refused: "spark.kubernetes.container.image.pullPolicy"},
	{Name: "image-referring-to-itself", Conf: properties{imageKey: "a:${" + imageKey + "}"}, Refused: imageKey},
	{Name: "pod-name-upper-case", Conf: properties{"spark.kubernetes.driver.pod.name": "My_Pod"}, Refused: "spark.kubernetes.driver.pod.name"},
	{Name: "basic-step-excluded", Conf: properties{
		"spark.kubernetes.driver.pod.excludedFeatureSteps": features + "BasicDriverFeatureStep",
	}, Refused: "spark.kubernetes.driver.pod.excludedFeatureSteps"},
	{Name: "step-of-the-user", Conf: properties{
		"spark.kubernetes.driver.pod.featureSteps": "com.example.MyStep",
	}, Refused: "spark.kubernetes.driver.pod.featureSteps"},
	{Name: "volcano-without-template", Conf: properties{
		"spark.kubernetes.driver.pod.featureSteps":                features + "VolcanoFeatureStep",
		"spark.kubernetes.scheduler.volcano.podGroupTemplateJson": "{minMember",
	}, Versions: []string{"4.2.1", "4.3.0"}, Refused: "spark.kubernetes.scheduler.volcano.podGroupTemplateJson"},
	{Name: "template-file-missing", Conf: properties{
		"spark.kubernetes.driver.podTemplateFile": "/no/such/file.yaml",
	}, Refused: "spark.kubernetes.driver.podTemplateFile"},
	{Name: "executor-template-file-missing", Conf: properties{
		"spark.kubernetes.executor.podTemplateFile": "/no/such/file.yaml",
	}, Refused: "spark.kubernetes.executor.podTemplateFile"},
	{Name: "template-volume-twice", Driver: `
spec:
  containers: [{name: main}]
  volumes: [{name: spark-local-dir-1, emptyDir: {}}]
`, Refused: "driverTemplate.spec.volumes"},

	// Volumes and secrets.
	{Name: "volume-of-unknown-type", Conf: properties{driverVolume + "hostpath.x.mount.path": "/x"}, Refused: driverVolume + "hostpath.x.mount.path"},
	{Name: "volume-without-path", Conf: properties{
		driverVolume + "hostPath.x.options.path": "/x",
	}, Refused: driverVolume + "hostPath.x.mount.path"},
	{Name: "volumes-at-one-path", Conf: properties{
		driverVolume + "emptyDir.a.mount.path": "/x", driverVolume + "emptyDir.b.mount.path": "/x",
	}, Refused: driverVolume + "emptyDir.b.mount.path"},
	{Name: "volume-read-only-nonsense", Conf: properties{
		driverVolume + "emptyDir.a.mount.path": "/x", driverVolume + "emptyDir.a.mount.readOnly": "yes",
	}, Refused: driverVolume + "emptyDir.a.mount.readOnly"},
	{Name: "volume-with-two-sub-paths", Conf: properties{
		driverVolume + "emptyDir.a.mount.path": "/x", driverVolume + "emptyDir.a.mount.subPath": "a", driverVolume + "emptyDir.a.mount.subPathExpr": "b",
	}, Refused: driverVolume + "emptyDir.a.mount.subPathExpr"},
	{Name: "volume-size-without-unit", Conf: properties{
		driverVolume + "emptyDir.a.mount.path": "/x", driverVolume + "emptyDir.a.options.sizeLimit": "5",
	}, Refused: driverVolume + "emptyDir.a.options.sizeLimit"},
	{Name: "volume-size-nonsense", Conf: properties{
		driverVolume + "emptyDir.a.mount.path": "/x", driverVolume + "emptyDir.a.options.sizeLimit": "big",
	}, Refused: driverVolume + "emptyDir.a.options.sizeLimit"},
	{Name: "host-path-without-path", Conf: properties{
		driverVolume + "hostPath.x.mount.path": "/x",
	}, Refused: driverVolume + "hostPath.x.options.path"},
	{Name: "nfs-without-server", Conf: properties{
		driverVolume + "nfs.x.mount.path": "/x", driverVolume + "nfs.x.options.path": "/y",
	}, Refused: driverVolume + "nfs.x.options.server"},
	{Name: "claim-without-name", Conf: properties{
		driverVolume + "persistentVolumeClaim.x.mount.path": "/x",
	}, Refused: driverVolume + "persistentVolumeClaim.x.options.claimName"},
	{Name: "executor-volume-without-path", Conf: properties{
		"spark.kubernetes.executor.volumes.emptyDir.x.options.medium": "Memory",
	}, Refused: "spark.kubernetes.executor.volumes.emptyDir.x.mount.path"},
	{Name: "executor-volume-of-unknown-type", Conf: properties{
		"spark.kubernetes.executor.volumes.configMap.x.mount.path": "/x",
	}, Refused: "spark.kubernetes.executor.volumes.configMap.x.mount.path"},
	{Name: "executor-volumes-at-one-path", Conf: properties{
		"spark.kubernetes.executor.volumes.emptyDir.a.mount.path": "/x", "spark.kubernetes.executor.volumes.emptyDir.b.mount.path": "/x",
	}},
	{Name: "secret-key-without-key", Conf: properties{
		"spark.kubernetes.driver.secretKeyRef.X": "secret",
	}, Refused: "spark.kubernetes.driver.secretKeyRef.X"},
	{Name: "secret-key-with-two-colons", Conf: properties{
		"spark.kubernetes.driver.secretKeyRef.X": "a:b:c",
	}, Refused: "spark.kubernetes.driver.secretKeyRef.X"},
	{Name: "secret-with-dots", Conf: properties{"spark.kubernetes.driver.secrets.a.b": "/x"}, Refused: "spark.kubernetes.driver.secrets.a.b"},
	{Name: "local-dirs-in-memory-nonsense", Conf: properties{
		"spark.kubernetes.local.dirs.tmpfs": "1",
	}, Refused: "spark.kubernetes.local.dirs.tmpfs"},

	// Kerberos and credentials.
	{Name: "principal-without-keytab", Conf: properties{"spark.kerberos.principal": "p"}, Refused: "spark.kerberos.principal"},
	{Name: "keytab-without-principal", Conf: properties{"spark.kerberos.keytab": "local:///k"}, Refused: "spark.kerberos.keytab"},
	{Name: "keytab-of-the-host", Conf: properties{
		"spark.kerberos.principal": "p", "spark.kerberos.keytab": "/no/such/keytab",
	}, Refused: "spark.kerberos.keytab"},
	{Name: "principal-and-proxy-user", ProxyUser: "alice", Conf: properties{
		"spark.kerberos.principal": "p", "spark.kerberos.keytab": "local:///k",
	}, Refused: "proxyUser"},
	{Name: "krb5-twice", Conf: properties{
		"spark.kubernetes.kerberos.krb5.path": "/etc/krb5.conf", "spark.kubernetes.kerberos.krb5.configMapName": "c",
	}, Refused: "spark.kubernetes.kerberos.krb5.path"},
	{Name: "token-secret-without-key", Conf: properties{
		"spark.kubernetes.kerberos.tokenSecret.name": "s",
	}, Refused: "spark.kubernetes.kerberos.tokenSecret.name"},
	{Name: "token-key-without-secret", Conf: properties{
		"spark.kubernetes.kerberos.tokenSecret.itemKey": "k",
	}, Refused: "spark.kubernetes.kerberos.tokenSecret.itemKey"},
	{Name: "token-of-driver", Conf: properties{
		"spark.kubernetes.authenticate.driver.oauthToken": "t", "spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
	}},

	// What comes of several things at once.
	{Name: "jars-with-scheme-in-capitals", Conf: properties{"spark.jars": "LOCAL:///x.jar,Http://h/x.jar"}, Refused: "spark.jars"},
	{Name: "shell", Class: "a.B", Resource: "spark-shell", Refused: "resource"},
	{Name: "python-shell", Resource: "pyspark-shell", Refused: "resource"},
	{Name: "port-by-reference-to-zero", Conf: properties{"spark.ui.port": "${spark.blockManager.port}"}, Refused: "spark.ui.port"},
	{Name: "volumes-of-one-name", Conf: properties{
		driverVolume + "emptyDir.v.mount.path": "/a", driverVolume + "hostPath.v.mount.path": "/b",
		driverVolume + "hostPath.v.options.path": "/b",
	}, Refused: "spark.kubernetes.driver.volumes.hostPath.v.mount.path"},
	{Name: "secrets-at-one-path", Conf: properties{
		"spark.kubernetes.driver.secrets.a": "/x", "spark.kubernetes.driver.secrets.b": "/x",
	}, Refused: "spark.kubernetes.driver.secrets.b"},
	{Name: "secret-at-path-of-volume", Conf: properties{
		"spark.kubernetes.driver.secrets.a": "/x", driverVolume + "emptyDir.v.mount.path": "/x",
	}, Refused: "spark.kubernetes.driver.volumes.emptyDir.v.mount.path"},
	{Name: "volume-at-local-dir", Conf: properties{
		driverVolume + "emptyDir.v.mount.path": "/scratch", "spark.local.dir": "/scratch",
	}, Refused: "spark.local.dir"},
	{Name: "secret-of-long-name", Conf: properties{
		"spark.kubernetes.driver.secrets.a23456789012345678901234567890123456789012345678901234567": "/x",
	}, Refused: "spark.kubernetes.driver.secrets.a23456789012345678901234567890123456789012345678901234567"},
	{Name: "device-with-dots", Conf: properties{
		"spark.driver.resource.x.y.amount": "1", "spark.driver.resource.x.y.vendor": "v.com",
	}, Refused: "spark.driver.resource.x.amount"},
	{Name: "device-of-no-name", Conf: properties{
		"spark.driver.resource.gpu.amount": "1", "spark.driver.resource.gpu.vendor": "nvidia.com",
		"spark.driver.resource.mig-1g.amount": "2",
		"spark.driver.resource.mig-1g.vendor": "nvidia.com", "spark.driver.resource.rdma/hca.amount": "1",
		"spark.driver.resource.rdma/hca.vendor": "x",
	}, Refused: "spark.driver.resource.rdma/hca.vendor"},
	{Name: "host-path-with-two-sub-paths", Conf: properties{
		driverVolume + "hostPath.h.mount.path": "/h", driverVolume + "hostPath.h.options.path": "/h",
		driverVolume + "hostPath.h.mount.subPath": "a", driverVolume + "hostPath.h.mount.subPathExpr": "b",
	}, Refused: "spark.kubernetes.driver.volumes.hostPath.h.mount.subPathExpr"},
	{Name: "proxy-user-and-principal-alone", ProxyUser: "bob", Conf: properties{"spark.kerberos.principal": "x"}, Refused: "proxyUser"},
	{Name: "template-containers-of-one-name", Driver: `
spec:
  containers: [{name: a, image: "x:1"}, {name: a, image: "side:1"}]
`, Conf: properties{"spark.kubernetes.driver.podTemplateContainerName": "a"}},
	{Name: "template-sidecar-of-sparks-name", Driver: `
spec:
  containers: [{image: "x:1"}, {name: spark-kubernetes-driver, image: "side:1"}]
`},
	{Name: "template-limit-below-request", Driver: `
spec:
  containers: [{name: a, resources: {limits: {cpu: 500m}}}]
`, Refused: "driverTemplate.spec.containers[0].resources.limits[cpu]"},
	{Name: "template-port-of-sparks-name", Driver: `
spec:
  containers: [{name: a, ports: [{name: spark-ui, containerPort: 4040}, {name: driver-rpc-port, containerPort: 1}]}]
`},
	{Name: "template-volume-of-sparks-name", Driver: `
spec:
  containers: [{name: a}]
  volumes: [{name: spark-conf-volume-driver, emptyDir: {}}]
`, Refused: "driverTemplate.spec.volumes"},
	{Name: "template-mount-at-sparks-path", Driver: `
spec:
  containers: [{name: a, volumeMounts: [{name: c, mountPath: /opt/spark/conf}]}]
  volumes: [{name: c, emptyDir: {}}]
`, Refused: "driverTemplate.spec.containers[0].volumeMounts[0].mountPath"},
	{Name: "template-mount-of-no-volume", Driver: `
spec:
  containers: [{name: a, volumeMounts: [{name: none, mountPath: /x}]}]
`},
	{Name: "template-devices-requested", Driver: `
spec:
  containers: [{name: a, resources: {requests: {nvidia.com/gpu: 4}, limits: {nvidia.com/gpu: 4}}}]
`, Conf: properties{"spark.driver.resource.gpu.amount": "2", "spark.driver.resource.gpu.vendor": "nvidia.com"}},
	{Name: "template-sidecar-without-image", Driver: `
spec:
  containers: [{name: a}, {name: side}]
`},
	{Name: "jars-of-r", Resource: rFile, Conf: properties{"spark.jars": "local:///a.jar"}, Refused: "spark.jars"},
	{Name: "image-referring-to-its-fallback", Conf: properties{imageKey: "${spark.kubernetes.driver.container.image}"}, Refused: imageKey},
}
