package parity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// values returns one case for each odd value of each key in the tables, alone.
func values() []Case {
	var cases []Case
	seen := map[string]bool{}
	for _, entry := range slices.Concat(keyTable, moreKeys) {
		for _, value := range entry.odd {
			c := entry.alone(value)
			if !seen[c.Name] {
				cases = append(cases, c)
			}
			seen[c.Name] = true
		}
	}
	return cases
}

// alone is the case of one value, with what it needs. Its name says what it is.
func (k keyValues) alone(value string) Case {
	c := Case{Name: fmt.Sprintf("%s=%q", k.key, value), Resource: k.resource, Conf: properties{k.key: value}, Refused: cmp.Or(k.refused, k.key), ofValue: true}
	for _, key := range slices.Sorted(maps.Keys(k.with)) {
		if key != k.key {
			c.Conf[key] = k.with[key]
			c.Name += fmt.Sprintf(" %s=%q", key, k.with[key])
		}
	}
	return c
}

var (
	otherBooleans = []string{"", "yes", "trUe"}
	otherNumbers  = []string{"", "-1", "1.5", " 3 ", "2147483648"}
	times         = []string{"", "-1s", "1.5s", " 3s ", "5"}
	labelled      = []string{"a"}
)

const (
	claimVolume    = driverVolume + "persistentVolumeClaim.p."
	executorVolume = "spark.kubernetes.executor.volumes."
)

var (
	mounted = properties{driverVolume + "emptyDir.e.mount.path": "/g"}
	claimed = properties{claimVolume + "mount.path": "/p", claimVolume + "options.claimName": "OnDemand"}
	made    = properties{
		claimVolume + "mount.path": "/p", claimVolume + "options.claimName": "OnDemand",
		claimVolume + "options.storageClass": "fast", claimVolume + "options.sizeLimit": "1Gi",
	}
	gpu       = properties{"spark.driver.resource.gpu.amount": "1", "spark.driver.resource.gpu.vendor": "nvidia.com"}
	reference = properties{"spark.x": "2g"}
	number    = properties{"spark.x": "2"}
)

// moreKeys are values beyond those that are drawn. Every key of Spark on Kubernetes is here or there, even where
// spark-submit only hands it on.
var moreKeys = []keyValues{
	// What spark-submit reads for itself.
	{key: "spark.kubernetes.submission.connectionTimeout", odd: otherNumbers},
	{key: "spark.kubernetes.submission.requestTimeout", odd: []string{"", "1.5", "x", "2147483648", " 20000 "}},
	{key: "spark.kubernetes.submission.waitAppCompletion", odd: []string{"", "x", " false ", "FALSE"}},
	{key: "spark.kubernetes.trust.certificates", odd: otherBooleans},
	{key: "spark.kubernetes.configMap.maxSize", odd: append([]string{"1048576", "1048577"}, otherNumbers...)},
	{key: "spark.kubernetes.setSubmitTimeInDriver", odd: append([]string{" true "}, otherBooleans...)},
	{key: "spark.kubernetes.report.interval", odd: times[:2]},
	{key: "spark.kubernetes.appKillPodDeletionGracePeriod", odd: times[:2]},
	{key: "spark.kubernetes.file.upload.path", odd: []string{"", "s3a://b/c"}},
	{key: "spark.kubernetes.authenticate.oauthToken", odd: []string{"x"}},
	{key: "spark.driver.userClassPathFirst", odd: otherBooleans},
	{key: "spark.buffer.size", odd: otherNumbers},
	{key: "spark.cores.max", odd: append([]string{"4", "0", "x"}, otherNumbers...)},
	{key: "spark.submit.deployMode", odd: []string{"", "Cluster", "x"}},
	{key: "spark.master", odd: []string{"k8s://", "k8s://ftp://h", "local[*]", "spark://h", ""}},
	{key: "spark.app.name", odd: []string{"", " ", "é", "İstanbul", "ΑΣ", "a\nb", "漢字", "A.B_C"}},
	{key: "spark.app.id", odd: []string{"", "A B"}},
	{key: "spark.app.submitTime", odd: []string{"", "x"}},
	{key: "spark.driver.host", odd: []string{""}},
	{key: "spark.driver.bindAddress", odd: []string{""}},
	{key: "spark.home", odd: []string{"/no/such"}},

	// What only the driver reads.
	{key: "spark.kubernetes.allocation.batch.delay", odd: times[:2]},
	{key: "spark.kubernetes.allocation.batch.size", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.allocation.driver.readinessTimeout", odd: times[:2]},
	{key: "spark.kubernetes.allocation.executor.timeout", odd: times[:2]},
	{key: "spark.kubernetes.allocation.maxPendingPods", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.allocation.maxPendingPodsPerRp", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.allocation.maximum", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.allocation.pods.allocator", odd: []string{"", "statefulset", "deployment", "x.Y"}},
	{key: "spark.kubernetes.allocation.recoveryMode.enabled", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.authenticate.driver.mounted.clientKeyFile", odd: []string{"/x"}},
	{key: "spark.kubernetes.decommission.script", odd: []string{"", "/x"}},
	{key: "spark.kubernetes.driver.annotateExitException", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.driver.connectionTimeout", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.driver.master", odd: []string{"", "local[*]", "http://h"}},
	{key: "spark.kubernetes.driver.ownPersistentVolumeClaim", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.driver.podTemplateContainerName", odd: []string{"", "x"}},
	{key: "spark.kubernetes.driver.requestTimeout", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.driver.resourceNamePrefix", odd: []string{"", "X_y"}},
	{key: "spark.kubernetes.driver.reusePersistentVolumeClaim", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.driver.service.deleteOnTermination", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.driver.waitToReusePersistentVolumeClaim", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.dynamicAllocation.deleteGracePeriod", odd: times[:2]},
	{key: "spark.kubernetes.executor.apiPollingInterval", odd: times[:2]},
	{key: "spark.kubernetes.executor.checkAllContainers", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.decommissionLabel", odd: []string{"", "x y"}},
	{key: "spark.kubernetes.executor.decommissionLabelValue", odd: []string{"x y"}},
	{key: "spark.kubernetes.executor.deletedExecutorsCacheTimeout", odd: times[:2]},
	{key: "spark.kubernetes.executor.deleteOnTermination", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.disableConfigMap", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.enableApiPolling", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.enableApiWatcher", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.enablePollingWithResourceVersion", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.eventProcessingInterval", odd: times[:2]},
	{key: "spark.kubernetes.executor.label.spark-role", odd: []string{"x y"}},
	{key: "spark.kubernetes.executor.limit.cores", odd: []string{"", "x", "0.5"}},
	{key: "spark.kubernetes.executor.minTasksPerExecutorBeforeRolling", odd: otherNumbers[:2]},
	{key: "spark.kubernetes.executor.missingPodDetectDelta", odd: times[:2]},
	{key: "spark.kubernetes.executor.node.selector.bad key", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.pod.excludedFeatureSteps", odd: []string{"", features + "BasicExecutorFeatureStep"}},
	{key: "spark.kubernetes.executor.pod.featureSteps", odd: []string{"", "x.Y"}},
	{key: "spark.kubernetes.executor.podDeletionCost", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.podNamePrefix", odd: []string{"", "X_y", "a.b"}},
	{key: "spark.kubernetes.executor.podTemplateContainerName", odd: []string{""}},
	{key: "spark.kubernetes.executor.pvc.resizeInterval", odd: times[:2]},
	{key: "spark.kubernetes.executor.request.cores", odd: []string{"", "x", "0.5"}},
	{key: "spark.kubernetes.executor.resizeInterval", odd: times[:2]},
	{key: "spark.kubernetes.executor.hadoopConfigMapName", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.pvc.resizeFactor", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.pvc.resizeThreshold", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.resizeFactor", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.resizeThreshold", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.rollInterval", odd: times[:2]},
	{key: "spark.kubernetes.executor.rollPolicy", odd: []string{"", "ID"}},
	{key: "spark.kubernetes.executor.scheduler.name", odd: []string{""}},
	{key: "spark.kubernetes.executor.secretKeyRef.K", odd: []string{"", "a", "a:b:c"}},
	{key: "spark.kubernetes.executor.secrets.a.b", odd: []string{"x"}},
	{key: "spark.kubernetes.executor.securityContext.allowPrivilegeEscalation", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executor.terminationGracePeriodSeconds", odd: times[:2]},
	{key: "spark.kubernetes.executor.useDriverPodIP", odd: otherBooleans[:2]},
	{key: "spark.kubernetes.executorSnapshotsSubscribersShutdownGracePeriod", odd: times[:2]},
	{key: "spark.kubernetes.jars.avoidDownloadSchemes", odd: []string{"", "*", "s3a"}},
	{key: "spark.kubernetes.pyspark.pythonVersion", odd: []string{"", "2", "4"}, resource: pythonFile},
	{key: "spark.kubernetes.resource.type", odd: []string{"", "python"}},
	{key: "spark.kubernetes.submitInDriver", odd: []string{"false", "x"}},
	{key: "spark.executor.memoryOverhead", odd: []string{"", "x"}},
	{key: "spark.executor.memoryOverheadFactor", odd: []string{"", "x"}},
	{key: "spark.executor.minMemoryOverhead", odd: []string{"", "x"}},
	{key: "spark.executor.resource.gpu.amount", odd: []string{"", "x"}},
	{key: "spark.task.resource.gpu.amount", odd: []string{"0.3", "x"}},
	{key: "spark.executorEnv.bad key", odd: []string{"x"}},
	{key: "spark.memory.offHeap.enabled", odd: []string{"x"}},
	{key: "spark.authenticate", odd: []string{"x", "true"}},
	{key: "spark.io.encryption.enabled", odd: []string{"x", "true"}},
	{key: "spark.driver.extraJavaOptions", odd: []string{"-Xmx2g", "-Dspark.x=y"}},

	// Sizes and numbers.
	{key: "spark.driver.memory", odd: []string{"${spark.x}", "1k", "1b", "8e", "1pb", "9223372036854775807b", "2gi", "2GIB", "1 GB", "\t1g\n"}, with: reference},
	{key: "spark.driver.memoryOverhead", odd: []string{"${spark.x}", "1k", "2147483648", "-5m", "3gi"}, with: reference},
	{key: "spark.yarn.driver.memoryOverhead", odd: []string{"1g", "700", "x", ""}},
	{key: "spark.executor.memory", odd: []string{"${spark.x}", "2gi", "99999999999999"}, with: reference},
	{key: "spark.driver.cores", odd: []string{"${spark.x}", "100000"}, with: number},
	{key: "spark.executor.cores", odd: []string{"${spark.x}"}, with: number},
	{key: "spark.executor.instances", odd: []string{"${spark.x}"}, with: number},
	{key: "spark.executor.instances", odd: []string{"0", "x"}, with: properties{"spark.dynamicAllocation.enabled": " true "}},
	{key: "spark.executor.instances", odd: []string{"0", "x", ""}, with: properties{"spark.dynamicAllocation.enabled": "True"}},
	{key: "spark.driver.memoryOverheadFactor", odd: []string{"${spark.x}", "1000000", "3e9", "0x1p3", "1f", "1D", "infinity", "+Infinity", "-0.0"}, with: number},
	{key: "spark.kubernetes.memoryOverheadFactor", odd: []string{"${spark.x}", "3e9", "1f", "0x1p-3", "-0.0"}, with: number},
	{key: "spark.kubernetes.memoryOverheadFactor", odd: []string{"0.1", "0.10", "0", "1e-5", "100"}, resource: pythonFile},
	{key: "spark.kubernetes.memoryOverheadFactor", odd: []string{"0.1"}, resource: rFile},
	{key: "spark.kubernetes.driver.request.cores", odd: []string{
		"${spark.x}", " 1", "0", "0.0001", "1n", "1u", "1Mi", "1E3", ".5", "5.", "0x1", "1,5", "100000000000000000000",
	}, with: number},
	{key: "spark.kubernetes.driver.limit.cores", odd: []string{"${spark.x}", "0", "0.5", "999m", "1000m"}, with: number},
	{key: "spark.driver.resource.gpu.amount", odd: []string{"${spark.x}", "0x1", " 1"}, with: properties{"spark.driver.resource.gpu.vendor": "nvidia.com", "spark.x": "1"}},
	{key: "spark.driver.resource.gpu.vendor", odd: []string{"", "nvidia", "NVIDIA.com", "a b", "nvidia.com/x", "kubernetes.io", "requests.x"}, with: gpu},
	{key: "spark.driver.resource.gpu.discoveryScript", odd: []string{"", "/find"}, with: gpu},
	{key: "spark.driver.resource.gpu", odd: []string{"1"}},
	{key: "spark.driver.resource.a b.amount", odd: []string{"1"}, with: properties{"spark.driver.resource.a b.vendor": "a.b"}},

	// Names, labels and variables.
	{key: imageKey, odd: []string{"", " ", " a", "a b", "A:B", "${x", "a:{{SPARK_VERSION}}", "{{APP_ID}}"}},
	{key: "spark.kubernetes.container.image.pullSecrets", odd: []string{"", "A B"}},
	{key: "spark.kubernetes.container.image.pullPolicy", odd: []string{" Always"}},
	{key: "spark.kubernetes.driver.annotation.bad key", odd: []string{"x"}},
	{key: "spark.kubernetes.driver.annotation.UPPER.Case/x", odd: []string{"x"}},
	{key: "spark.kubernetes.driver.annotation.", odd: []string{"x"}},
	{key: "spark.kubernetes.driver.label.l", odd: []string{" a", digest, "{{EXECUTOR_ID}}", "{{SPARK_VERSION}}"}},
	{key: "spark.kubernetes.driver.label.bad key", odd: labelled},
	{key: "spark.kubernetes.driver.label.", odd: labelled},
	{key: "spark.kubernetes.driver.label.UPPER.Case/x", odd: labelled},
	{key: "spark.kubernetes.driver.label.spark-exec-id", odd: labelled},
	{key: "spark.kubernetes.driver.service.label.bad key", odd: labelled},
	{key: "spark.kubernetes.driver.service.annotation.bad key", odd: []string{"x"}},
	{key: "spark.kubernetes.driver.service.ipFamilies", odd: []string{"IPv6,IPv4", "IPv4,IPv4", "ipv4", " IPv4"}},
	{key: "spark.kubernetes.driver.service.ipFamilyPolicy", odd: []string{" SingleStack", "RequireDualStack"}},
	{key: "spark.kubernetes.driver.scheduler.name", odd: []string{"a b", "UPPER"}},
	{key: "spark.kubernetes.driver.pod.name", odd: []string{"a b", " named ", "-a", "a..b", digest + "-" + digest}},
	{key: "spark.kubernetes.driverEnv.bad key", odd: []string{"x"}},
	{key: "spark.kubernetes.driverEnv.1X", odd: []string{"x"}},
	{key: "spark.kubernetes.driverEnv.", odd: []string{"x"}},
	{key: "spark.kubernetes.driverEnv.é", odd: []string{"x"}},
	{key: "spark.kubernetes.node.selector.bad key", odd: labelled},
	{key: "spark.kubernetes.node.selector.n", odd: oddLabels},
	{key: "spark.kubernetes.driver.node.selector.", odd: labelled},
	{key: "spark.kubernetes.authenticate.driver.serviceAccountName", odd: []string{"UPPER", "a b", "a.b", " "}},

	// Secrets, volumes and directories.
	{key: "spark.kubernetes.driver.secretKeyRef.bad key", odd: []string{"s:k"}},
	{key: "spark.kubernetes.driver.secretKeyRef.K", odd: []string{"S:k", "s:k k", " s:k", "s/x:y"}},
	{key: "spark.kubernetes.driver.secrets.UPPER", odd: []string{"/x"}},
	{key: "spark.kubernetes.driver.secrets.", odd: []string{"/x"}},
	{key: "spark.kubernetes.driver.secrets.one", odd: []string{"x/y", "/opt/spark/conf", " /x ", "/a/../b"}},
	{key: driverVolume + "emptyDir.e.mount.path", odd: []string{" /e", "/opt/spark/conf", "/e/../f", "/", "/é"}},
	{key: driverVolume + "emptyDir.E_x.mount.path", odd: []string{"/e"}},
	{key: driverVolume + "emptyDir..mount.path", odd: []string{"/x"}},
	{key: driverVolume + "emptyDir.e.mount.readOnly", odd: []string{" true", "TRUE", ""}, with: mounted},
	{key: driverVolume + "emptyDir.e.mount.subPath", odd: []string{"", "/abs", "../x", "."}, with: mounted},
	{key: driverVolume + "emptyDir.e.mount.subPathExpr", odd: []string{"", "/abs", "../x", "$(POD)"}, with: mounted},
	{key: driverVolume + "emptyDir.e.mount.subPathExpr", odd: []string{"x"}, with: properties{
		driverVolume + "emptyDir.e.mount.path": "/g", driverVolume + "emptyDir.e.mount.subPath": "",
	}},
	{key: driverVolume + "emptyDir.e.options.medium", odd: []string{"HugePages-2Mi", "memory", " "}, with: mounted},
	{key: driverVolume + "emptyDir.e.options.sizeLimit", odd: []string{"0", "1023", "1024", "01024", "1k", "0.5", "5gb", "99999999999999999999"}, with: mounted},
	{key: driverVolume + "emptyDir.e.unknown", odd: []string{"x"}, with: mounted},
	{key: driverVolume + "emptyDir.e", odd: []string{"x"}},
	{key: driverVolume + "emptyDir", odd: []string{"x"}},
	{key: driverVolume + "emptyDir.", odd: []string{"x"}},
	{key: driverVolume + "hostPath.h.options.path", odd: []string{"/", " /h", "/a/.."}, with: properties{driverVolume + "hostPath.h.mount.path": "/h"}},
	{key: driverVolume + "hostPath.h.options.type", odd: []string{"Socket", " File"}, with: properties{
		driverVolume + "hostPath.h.mount.path": "/h", driverVolume + "hostPath.h.options.path": "/hh",
	}},
	{key: driverVolume + "nfs.n.options.path", odd: []string{"", "x", "/a/../b"}, with: properties{
		driverVolume + "nfs.n.mount.path": "/n", driverVolume + "nfs.n.options.server": "s",
	}},
	{key: claimVolume + "options.claimName", odd: []string{"a b", "ondemand", "OnDemandOnDemand", " OnDemand"}, with: claimed},
	{key: claimVolume + "options.storageClass", odd: []string{"", "UPPER", "a b"}, with: made},
	{key: claimVolume + "options.sizeLimit", odd: []string{"0", "-1Gi", "1024", "1023", "0.5Gi", "1e9", "1e-3"}, with: made},
	{key: claimVolume + "label.spark-app-selector", odd: []string{"x"}, with: made},
	{key: claimVolume + "label.bad key", odd: []string{"x"}, with: made},
	{key: claimVolume + "annotation.bad key", odd: []string{"x"}, with: made},
	{key: executorVolume + "emptyDir.x.mount.path", odd: []string{" /x", "x:y"}},
	{key: executorVolume + "emptyDir.x.mount.readOnly", odd: []string{"", "yes"}, with: properties{executorVolume + "emptyDir.x.mount.path": "/x"}},
	{key: executorVolume + "emptyDir.x.options.sizeLimit", odd: []string{"", "5", "x", "1Gi"}, with: properties{executorVolume + "emptyDir.x.mount.path": "/x"}},
	{key: executorVolume + "hostPath.x.mount.path", odd: []string{"/x"}, refused: executorVolume + "hostPath.x.options.path"},
	{key: "spark.local.dir", odd: []string{"/a,/a", "/opt/spark/conf", "/a,", "${spark.x}"}, with: properties{"spark.x": "/y"}},
	{key: "spark.kubernetes.local.dirs.tmpfs", odd: []string{"${spark.x}"}, with: properties{"spark.x": "true"}},

	// Files and packages.
	{key: "spark.jars", odd: []string{
		"local:///a b.jar", "local:///a.jar#x", "http://h/%20x.jar", "ftp://h/x.jar", "local:a.jar", ":x", "local:///a?b=c", "local:///é.jar",
		"s3a://b/a.jar, gs://b/a.jar,abfss://c@a/b.jar", "hdfs://n/a.jar", "s3a://b/%zz.jar",
	}},
	{key: "spark.files", odd: []string{"local:///a#b", "local:///a,local:///a", "s3a://b/a.txt#c"}},
	{key: "spark.archives", odd: []string{"local:///a.zip", "https://h/a.tgz#a#b", "s3a://b/c.tgz#d"}},
	{key: "spark.submit.pyFiles", odd: []string{"local:///a.py,local:///a.py", pythonFile, "s3a://b/a.py,s3a://b/c.zip"}, resource: pythonFile},
	{key: "spark.jars.packages", odd: []string{"", " ", "a", "a:b", "a:b:c:d", "::", "a: :c", "org.example:library:1.0", "org.example/library:1.0,"}},
	{key: "spark.jars.excludes", odd: []string{"", "a", "a:b", "a:b:c"}, with: properties{"spark.jars.packages": "org.example:library:1.0"}},
	{key: "spark.jars.excludes", odd: []string{"a"}},
	{key: "spark.jars.repositories", odd: []string{"https://repo.example/maven"}, with: properties{"spark.jars.packages": "org.example:library:1.0"}},
	{key: "spark.jars.ivy", odd: []string{"", "x"}},

	// Interpreters, Hadoop and steps.
	{key: "spark.pyspark.python", odd: []string{"", " ", "${spark.x}"}, with: properties{"spark.x": "/p"}, resource: pythonFile},
	{key: "spark.pyspark.driver.python", odd: []string{"", "p"}, with: properties{"spark.pyspark.python": "q"}, resource: pythonFile},
	{key: "spark.kubernetes.hadoop.configMapName", odd: []string{"UPPER"}},
	{key: "spark.kubernetes.kerberos.krb5.configMapName", odd: []string{"UPPER"}},
	{key: "spark.kubernetes.kerberos.tokenSecret.name", odd: []string{"", "UPPER"}, with: properties{"spark.kubernetes.kerberos.tokenSecret.itemKey": "k"}},
	{key: "spark.kubernetes.kerberos.tokenSecret.itemKey", odd: []string{"", "a b"}, with: properties{"spark.kubernetes.kerberos.tokenSecret.name": "n"}},
	{key: "spark.kerberos.principal", odd: []string{""}, with: properties{"spark.kerberos.keytab": "local:///x"}},
	{key: "spark.kerberos.keytab", odd: []string{"", "local:/x", "local://x/y"}, with: properties{"spark.kerberos.principal": "x"}},
	{key: "spark.yarn.keytab", odd: []string{"local:///x"}, with: properties{"spark.yarn.principal": "x"}},
	{key: "spark.yarn.principal", odd: []string{"x"}},
	{key: "spark.kubernetes.driver.pod.featureSteps", odd: []string{"", ","}},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{"", ","}},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{features + "DriverKubernetesCredentialsFeatureStep"}, with: properties{
		"spark.kubernetes.authenticate.driver.serviceAccountName": "x",
	}},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{
		features + "MountSecretsFeatureStep", features + "EnvSecretsFeatureStep", features + "MountVolumesFeatureStep",
		features + "HadoopConfDriverFeatureStep", features + "KerberosConfDriverFeatureStep",
	}, with: properties{
		"spark.kubernetes.driver.secrets.s": "/s", "spark.kubernetes.driver.secretKeyRef.S": "s:k", driverVolume + "emptyDir.e.mount.path": "/e",
		"spark.kubernetes.hadoop.configMapName": "h", "spark.kubernetes.kerberos.krb5.configMapName": "k",
	}},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{features + "DriverServiceFeatureStep"}, with: properties{"spark.driver.bindAddress": "0.0.0.0"}, refused: "spark.driver.bindAddress"},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{features + "MountVolumesFeatureStep"}, with: properties{driverVolume + "emptyDir.e.mount.readOnly": "/e"}, refused: driverVolume + "emptyDir.e.mount.readOnly"},
	{key: "spark.kubernetes.local.dirs.tmpfs", odd: []string{"x"}, with: properties{driverVolume + "emptyDir.spark-local-dir-1.mount.path": "/x"}},
	{key: "spark.kubernetes.local.dirs.tmpfs", odd: []string{"x"}, with: excluding("LocalDirsFeatureStep")},
	{key: "spark.kubernetes.driver.service.ipFamilies", odd: []string{"IPv5", "IPv4,IPv6"}, with: excluding("DriverServiceFeatureStep")},
	{key: "spark.kubernetes.driver.service.ipFamilyPolicy", odd: []string{"x"}, with: excluding("DriverServiceFeatureStep")},
	{key: "spark.kubernetes.driver.service.publishNotReadyAddresses", odd: []string{"x"}, with: excluding("DriverServiceFeatureStep")},
	{key: "spark.kubernetes.driver.service.label.bad key", odd: labelled, with: excluding("DriverServiceFeatureStep")},
	{key: "spark.kubernetes.legacy.useReadWriteOnceAccessMode", odd: []string{"x"}, with: excluding("MountVolumesFeatureStep")},
	{key: "spark.kubernetes.hadoop.configMapName", odd: []string{""}, with: excluding("HadoopConfDriverFeatureStep")},
	{key: "spark.kubernetes.authenticate.driver.oauthToken", odd: []string{"x"}, with: excluding("DriverKubernetesCredentialsFeatureStep")},
	{key: "spark.pyspark.python", odd: []string{"p"}, with: excluding("DriverCommandFeatureStep"), resource: pythonFile},
	{key: "spark.kubernetes.driver.volumes.emptyDir.e.mount.path", odd: []string{"/e", "/e:f"}, with: properties{
		"spark.kubernetes.driver.pod.excludedFeatureSteps": features + "MountVolumesFeatureStep", driverVolume + "emptyDir.f.mount.path": "/e",
	}},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{features + "EnvSecretsFeatureStep"}, with: properties{"spark.kubernetes.driver.secretKeyRef.S": "x"}, refused: "spark.kubernetes.driver.secretKeyRef.S"},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", odd: []string{features + "KerberosConfDriverFeatureStep"}, with: properties{"spark.kubernetes.kerberos.tokenSecret.name": "x"}, refused: "spark.kubernetes.kerberos.tokenSecret.name"},
	{key: "spark.kubernetes.securityContext.allowPrivilegeEscalation", odd: otherBooleans},
	{key: "spark.kubernetes.scheduler.volcano.podGroupTemplateFile", odd: []string{"/x"}},

	// Ports.
	{key: "spark.ui.port", odd: []string{"${spark.x}", " 4041", "+4042", "04043"}, with: properties{"spark.x": "4044"}},
	{key: "spark.driver.port", odd: []string{"${spark.x}", "+7100", "07101", " 7102"}, with: properties{"spark.x": "4044"}},
	{key: "spark.connect.grpc.binding.port", odd: []string{"4040", "x", "${spark.x}", "0"}, with: properties{"spark.x": "4045"}},
}

func excluding(step string) properties {
	return properties{"spark.kubernetes.driver.pod.excludedFeatureSteps": features + step}
}
