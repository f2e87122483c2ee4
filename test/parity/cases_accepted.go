package parity

const (
	pythonFile = "local:///opt/spark/examples/src/main/python/pi.py"
	rFile      = "local:///opt/spark/examples/src/main/r/dataframe.R"
	noResource = "spark-internal"
	piClass    = "org.apache.spark.examples.SparkPi"
	features   = "org.apache.spark.deploy.k8s.features."
)

// accepted are cases of everything but volumes and templates.
var accepted = []Case{
	// What runs.
	{Name: "minimal"},
	{Name: "arguments", Args: []string{"1000", "", "a b", "--class", "-x", `"q"`, "$HOME", "{{APP_ID}}", "é\n"}},
	{Name: "internal", Class: piClass, Resource: noResource},
	{Name: "internal-with-jars", Class: piClass, Resource: noResource, Conf: properties{"spark.jars": "local:///a.jar"}},
	{Name: "remote-jar", Class: "a.B", Resource: "https://repo.example/app.jar"},
	{Name: "own-jar-listed", Conf: properties{"spark.jars": "local:///opt/spark/examples/jars/spark-examples.jar"}},
	{Name: "jars-listed-twice", Conf: properties{"spark.jars": "local:///a.jar,local:///a.jar,local:///b.jar"}},
	{Name: "proxy-user", ProxyUser: "alice"},
	{Name: "connect-server", Class: "org.apache.spark.sql.connect.service.SparkConnectServer", Resource: noResource},
	{Name: "thrift-server", Class: "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", Resource: noResource},
	{Name: "sql-shell", Class: "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", Resource: noResource, Args: []string{"-e", "select 1"}},
	{Name: "history-server", Class: "org.apache.spark.deploy.history.HistoryServer", Resource: noResource},
	{Name: "jar-of-a-store", Class: "a.B", Resource: "s3a://bucket/app.jar", Conf: properties{
		"spark.jars": "s3a://bucket/one.jar,gs://bucket/two.jar", "spark.files": "abfss://c@a.example/x.txt, hdfs://n:8020/y.txt",
		"spark.hadoop.fs.s3a.endpoint": "https://s3.example",
	}},
	{Name: "python-of-a-store", Resource: "s3a://bucket/main.py", Conf: properties{
		"spark.submit.pyFiles": "s3a://bucket/a.py,s3a://bucket/b.zip", "spark.archives": "s3a://bucket/env.tar.gz#environment",
		"spark.pyspark.python": "./environment/bin/python",
	}},
	{Name: "r-of-a-store", Resource: "s3a://bucket/main.R"},
	{Name: "jars-by-pattern", Conf: properties{"spark.jars": "s3a://bucket/lib/*.jar,local:///a.jar"}},
	{Name: "packages", Conf: properties{
		"spark.jars.packages": "org.example:library:1.0", "spark.jars.excludes": "org.example:other", "spark.jars.ivy": "/tmp/.ivy2",
		"spark.jars.repositories": "https://repo.example/one,https://repo.example/two", "spark.jars": "local:///a.jar",
	}},
	{Name: "packages-of-python", Resource: pythonFile, Conf: properties{"spark.jars.packages": "org.example:library:1.0"}},
	{Name: "python", Resource: pythonFile, Args: []string{"10"}},
	{Name: "python-interpreter", Resource: pythonFile, Conf: properties{"spark.pyspark.python": "/opt/py/bin/python3"}},
	{Name: "python-driver-interpreter", Resource: pythonFile, Conf: properties{
		"spark.pyspark.python": "/opt/py/bin/python3", "spark.pyspark.driver.python": "/opt/py/bin/driver",
	}},
	{Name: "python-only-driver-interpreter", Resource: pythonFile, Conf: properties{
		"spark.pyspark.driver.python": "/opt/py/bin/driver",
	}},
	{Name: "python-files", Resource: pythonFile, Conf: properties{
		"spark.submit.pyFiles": "local:///a.py, local:///b.zip,,https://files.example/c.egg", "spark.jars": "local:///a.jar",
	}},
	{Name: "python-proxy-user", Resource: pythonFile, ProxyUser: "bob"},
	{Name: "r", Resource: rFile},
	{Name: "r-in-lower-case", Resource: "local:///app/main.r", Args: []string{"1"}},
	{Name: "r-of-relative-path", Resource: "main.R"},
	{Name: "files", Conf: properties{
		"spark.files": "local:///a, local:///b,", "spark.archives": "local:///c.tgz#c,local:///d.zip",
		"spark.jars": "local:///a.jar, local:///b.jar,,", "spark.submit.pyFiles": "local:///e.zip",
	}},
	{Name: "empty-lists", Conf: properties{"spark.files": "", "spark.archives": ",", "spark.jars": " "}},

	// Names.
	{Name: "name-of-35", Conf: properties{appNameKey: "abcdefghijklmnopqrstuvwxyz-12345678"}},
	{Name: "name-of-36", Conf: properties{appNameKey: "abcdefghijklmnopqrstuvwxyz-123456789"}},
	{Name: "name-of-70", Conf: properties{appNameKey: "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopq"}},
	{Name: "name-with-blanks", Conf: properties{appNameKey: " Spark  Pi / 3 "}},
	{Name: "name-of-class", Conf: properties{appNameKey: piClass}},
	{Name: "name-with-digit", Conf: properties{appNameKey: "123 job"}},
	{Name: "name-with-hyphens", Conf: properties{appNameKey: "--x--"}},
	{Name: "name-with-underscore", Conf: properties{appNameKey: "_a_"}},
	{Name: "name-with-umlauts", Conf: properties{appNameKey: "é Ünï"}},
	{Name: "name-of-253", Conf: properties{appNameKey: digest + digest + digest + digest[:61]}},
	{Name: "name-with-hyphen-at-63", Conf: properties{appNameKey: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y"}},
	{Name: "pod-name", Conf: properties{"spark.kubernetes.driver.pod.name": "my.driver-1"}},
	{Name: "app-id-of-the-user", Conf: properties{"spark.app.id": "mine", "spark.app.submitTime": "1763711999871"}},

	// Metadata, environment and scheduling.
	{Name: "metadata", Conf: properties{
		"spark.kubernetes.driver.label.team": "a", "spark.kubernetes.driver.label.example.com/x": "b", "spark.kubernetes.driver.label.e": "",
		"spark.kubernetes.driver.annotation.note": "some text: a=b", "spark.kubernetes.driver.annotation.example.com/y": "",
		"spark.kubernetes.executor.label.team": "b", "spark.kubernetes.executor.annotation.z": "1",
	}},
	{Name: "placeholders", Conf: properties{
		"spark.kubernetes.driver.label.a":              "x-{{APP_ID}}-{{EXECUTOR_ID}}y",
		"spark.kubernetes.driver.annotation.a":         "{{APP_ID}}/{{EXECUTOR_ID}}/{{SPARK_VERSION}}",
		"spark.kubernetes.driverEnv.A":                 "{{APP_ID}}",
		"spark.kubernetes.driver.service.annotation.a": "{{APP_ID}}",
	}, Versions: []string{"4.0.5", "4.1.4", "4.2.1", "4.3.0"}},
	{Name: "placeholders-in-annotations", Conf: properties{
		"spark.kubernetes.driver.annotation.a": "{{APP_ID}}/{{EXECUTOR_ID}}/{{SPARK_VERSION}}", "spark.x": "{{APP_ID}}",
	}},
	{Name: "environment", Conf: properties{
		"spark.kubernetes.driverEnv.B": "$(SPARK_USER)", "spark.kubernetes.driverEnv.A": "1=2", "spark.kubernetes.driverEnv.EMPTY": "",
		"spark.kubernetes.driverEnv.SPARK_USER": "other", "spark.executorEnv.C": "3", "spark.kubernetes.driverEnv.a.b-c": "4",
	}},
	{Name: "node-selectors", Conf: properties{
		"spark.kubernetes.node.selector.disk": "ssd", "spark.kubernetes.node.selector.zone": "a",
		"spark.kubernetes.driver.node.selector.zone": "b", "spark.kubernetes.executor.node.selector.zone": "c",
	}},
	{Name: "scheduler", Conf: properties{"spark.kubernetes.scheduler.name": "volcano"}},
	{Name: "scheduler-of-driver", Conf: properties{
		"spark.kubernetes.scheduler.name": "volcano", "spark.kubernetes.driver.scheduler.name": "yunikorn",
		"spark.kubernetes.executor.scheduler.name": "third",
	}},
	{Name: "service-account", Conf: properties{
		"spark.kubernetes.authenticate.driver.serviceAccountName":   "spark",
		"spark.kubernetes.authenticate.executor.serviceAccountName": "spark-executor",
	}},
	{Name: "mounted-credentials", Conf: properties{
		"spark.kubernetes.authenticate.driver.mounted.oauthTokenFile": "/t",
		"spark.kubernetes.authenticate.driver.mounted.caCertFile":     "/ca",
	}},
	{Name: "token-of-submission", Conf: properties{"spark.kubernetes.authenticate.executor.oauthToken": "secret"}},
	{Name: "volcano", Conf: properties{
		"spark.kubernetes.scheduler.name":              "volcano",
		"spark.kubernetes.driver.pod.featureSteps":     features + "VolcanoFeatureStep",
		"spark.kubernetes.executor.pod.featureSteps":   features + "VolcanoFeatureStep",
		"spark.kubernetes.driver.annotation.mine":      "1",
		"spark.kubernetes.driver.label.queue":          "q",
		"spark.kubernetes.executor.annotation.another": "2",
	}, Versions: []string{"4.2.1", "4.3.0"}}, // the archives of older ones lack the class

	{Name: "volcano-with-template", Conf: properties{
		"spark.kubernetes.driver.pod.featureSteps": features + "VolcanoFeatureStep",
		"spark.kubernetes.scheduler.volcano.podGroupTemplateJson": `{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
			"metadata":{"name":"theirs","labels":{"a":"b"},"annotations":{"c":"d"}},
			"spec":{"minMember":2,"minResources":{"cpu":"3","memory":"4Gi"},"queue":"q","priorityClassName":"high"}}`,
	}, Versions: []string{"4.2.1", "4.3.0"}},
	{Name: "volcano-with-part-of-template", Conf: properties{
		"spark.kubernetes.driver.pod.featureSteps":                features + "VolcanoFeatureStep",
		"spark.kubernetes.scheduler.volcano.podGroupTemplateJson": `{"metadata":{"labels":{"a":"b"}}}`,
	}, Versions: []string{"4.2.1", "4.3.0"}},

	// The image.
	{Name: "image-of-driver", Conf: properties{
		"spark.kubernetes.driver.container.image": "driver:1", "spark.kubernetes.executor.container.image": "executor:1",
	}},
	{Name: "image-of-roles-only", Conf: properties{
		imageKey: absent, "spark.kubernetes.driver.container.image": "driver:1", "spark.kubernetes.executor.container.image": "executor:1",
	}},
	{Name: "image-pull", Conf: properties{
		"spark.kubernetes.container.image.pullPolicy": "Always", "spark.kubernetes.container.image.pullSecrets": "a, b,,c",
	}},
	{Name: "image-never-pulled", Conf: properties{"spark.kubernetes.container.image.pullPolicy": "Never", imageKey: "spark"}},
	{Name: "image-with-version", Conf: properties{
		imageKey: "apache/spark:{{SPARK_VERSION}}",
	}, Versions: []string{"4.1.4", "4.2.1", "4.3.0"}},
	{Name: "image-by-reference", Conf: properties{
		imageKey: "apache/spark:${spark.x.tag}", "spark.x.tag": "${spark.x.other}", "spark.x.other": "4",
	}},
	{Name: "image-by-missing-reference", Conf: properties{imageKey: "spark:${spark.none}${other}"}},

	// Memory, cores and devices.
	{Name: "cores", Conf: properties{"spark.driver.cores": "2", "spark.executor.cores": "3"}},
	{Name: "cores-requested", Conf: properties{
		"spark.driver.cores": "2", "spark.kubernetes.driver.request.cores": "1500m", "spark.kubernetes.driver.limit.cores": "2.5",
		"spark.kubernetes.executor.request.cores": "100m", "spark.kubernetes.executor.limit.cores": "1",
	}},
	{Name: "cores-limited", Conf: properties{"spark.kubernetes.driver.limit.cores": "3"}},
	{Name: "memory", Conf: properties{"spark.driver.memory": "4g", "spark.executor.memory": "8g"}},
	{Name: "memory-in-kibibytes", Conf: properties{"spark.driver.memory": "2097152K"}},
	{Name: "memory-in-tebibytes", Conf: properties{"spark.driver.memory": "1tb"}},
	{Name: "memory-without-unit", Conf: properties{"spark.driver.memory": "2048"}},
	{Name: "memory-of-executor-without-unit", Conf: properties{"spark.executor.memory": "2048"}},
	{Name: "memory-with-blanks", Conf: properties{"spark.driver.memory": " 2G "}},
	{Name: "memory-rounded-down", Conf: properties{"spark.driver.memory": "1073741823b", "spark.driver.memoryOverhead": "1535k"}},
	{Name: "memory-binary-unit", Conf: properties{
		"spark.driver.memory": "2Gi", "spark.driver.memoryOverhead": "600Mi", "spark.executor.memory": "3gib",
	}, Refused: "spark.driver.memory"},
	{Name: "overhead", Conf: properties{"spark.driver.memoryOverhead": "100m", "spark.executor.memoryOverhead": "1g"}},
	{Name: "overhead-without-unit", Conf: properties{"spark.driver.memoryOverhead": "700"}},
	{Name: "overhead-zero", Conf: properties{"spark.driver.memoryOverhead": "0"}},
	{Name: "overhead-of-yarn", Conf: properties{"spark.yarn.driver.memoryOverhead": "512"}},
	{Name: "overhead-factor", Conf: properties{"spark.driver.memory": "8g", "spark.driver.memoryOverheadFactor": "0.3"}},
	{Name: "overhead-factor-of-both", Conf: properties{"spark.driver.memory": "8g", "spark.kubernetes.memoryOverheadFactor": "0.25"}},
	{Name: "overhead-factors", Conf: properties{
		"spark.driver.memory": "8g", "spark.kubernetes.memoryOverheadFactor": "0.0001", "spark.driver.memoryOverheadFactor": "1",
		"spark.executor.memoryOverheadFactor": "0.5",
	}},
	{Name: "overhead-factor-large", Conf: properties{"spark.driver.memoryOverheadFactor": "12345678"}},
	{Name: "overhead-factor-of-python", Resource: pythonFile, Conf: properties{
		"spark.driver.memory": "8g", "spark.kubernetes.memoryOverheadFactor": "2",
	}},
	{Name: "overhead-of-python", Resource: pythonFile, Conf: properties{"spark.driver.memory": "512m"}},
	{Name: "overhead-of-python-factor", Resource: pythonFile, Conf: properties{"spark.driver.memoryOverheadFactor": "0.2"}},
	{Name: "overhead-at-least", Conf: properties{"spark.driver.minMemoryOverhead": "1g", "spark.executor.minMemoryOverhead": "2g"}},
	{Name: "overhead-at-least-nothing", Conf: properties{"spark.driver.minMemoryOverhead": "0", "spark.driver.memory": "500m"}},
	{Name: "memory-beside-the-heap", Conf: properties{
		"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g", "spark.executor.pyspark.memory": "512m",
	}},
	{Name: "devices", Conf: properties{
		"spark.driver.resource.gpu.amount": "2", "spark.driver.resource.gpu.vendor": "nvidia.com",
		"spark.driver.resource.gpu.discoveryScript": "/opt/find", "spark.driver.resource.fpga.amount": "0",
		"spark.executor.resource.gpu.amount": "1", "spark.executor.resource.gpu.vendor": "nvidia.com",
		"spark.driver.resource.nic.amount": "1", "spark.driver.resource.nic.vendor": "intel.com",
	}},

	// Ports and the Service.
	{Name: "ports", Conf: properties{
		"spark.driver.port": "7178", "spark.driver.blockManager.port": "7179", "spark.ui.port": "4141",
		"spark.connect.grpc.binding.port": "15102",
	}},
	{Name: "port-of-both-block-managers", Conf: properties{"spark.blockManager.port": "17079"}},
	{Name: "port-of-block-managers", Conf: properties{"spark.blockManager.port": "17079", "spark.driver.blockManager.port": "17080"}},
	{Name: "service", Conf: properties{
		"spark.kubernetes.driver.service.label.team": "a", "spark.kubernetes.driver.service.annotation.note": "x: y",
		"spark.kubernetes.driver.label.team": "b", "spark.kubernetes.driver.service.publishNotReadyAddresses": "true",
		"spark.kubernetes.driver.service.deleteOnTermination": "false",
	}},
	{Name: "service-label-of-spark", Conf: properties{"spark.kubernetes.driver.service.label.spark-app-selector": "x"}},
	{Name: "service-of-two-families", Conf: properties{
		"spark.kubernetes.driver.service.ipFamilyPolicy": "RequireDualStack",
		"spark.kubernetes.driver.service.ipFamilies":     "IPv6,IPv4",
	}},
	{Name: "service-preferring-two-families", Conf: properties{
		"spark.kubernetes.driver.service.ipFamilyPolicy": "PreferDualStack",
		"spark.kubernetes.driver.service.ipFamilies":     "IPv4,IPv6",
	}},
	{Name: "service-of-ipv6", Conf: properties{"spark.kubernetes.driver.service.ipFamilies": "IPv6"}},
	{Name: "driver-host", Conf: properties{"spark.driver.host": "laptop"}},

	// Steps, privileges and Hadoop.
	{Name: "without-service", Conf: properties{
		"spark.kubernetes.driver.pod.excludedFeatureSteps": features + "DriverServiceFeatureStep",
	}},
	{Name: "without-steps", Conf: properties{
		"spark.kubernetes.driver.pod.excludedFeatureSteps": features + "NetworkPolicyFeatureStep," + features + "LocalDirsFeatureStep, " +
			features + "DriverCommandFeatureStep,unknown.Step",
		"spark.kubernetes.driver.secrets.s": "/s",
	}},
	{Name: "privilege-escalation", Conf: properties{"spark.kubernetes.securityContext.allowPrivilegeEscalation": "true"}},
	{Name: "privilege-escalation-of-driver", Conf: properties{
		"spark.kubernetes.securityContext.allowPrivilegeEscalation":        "true",
		"spark.kubernetes.driver.securityContext.allowPrivilegeEscalation": "false",
	}},
	{Name: "hadoop-config-map", Conf: properties{"spark.kubernetes.hadoop.configMapName": "hadoop", "spark.hadoop.fs.defaultFS": "file:///"}},
	{Name: "kerberos", Conf: properties{
		"spark.kubernetes.kerberos.krb5.configMapName":   "krb5",
		"spark.kubernetes.kerberos.tokenSecret.name":     "tokens",
		"spark.kubernetes.kerberos.tokenSecret.itemKey":  "key",
		"spark.kubernetes.executor.secrets.tokens":       "/x",
		"spark.kubernetes.kerberos.unknown":              "y",
		"spark.kubernetes.kerberos.tokenSecret.whatever": "z",
	}},
	{Name: "keytab-in-image", Conf: properties{"spark.kerberos.principal": "p@EXAMPLE", "spark.kerberos.keytab": "local:///etc/keytab"}},

	// The text of the properties file.
	{Name: "odd-values", Conf: properties{
		"spark.a": "a=b#c!d:e", "spark.b": " lead  two ", "spark.c": `C:\x\u0041`, "spark.d": "é 漢 😀", "spark.e": "line\none\ttab\r\f",
		"spark.f": "", "spark.g": `\`, "spark.h": "${spark.a} ${env:HOME}", "spark.i": "#!", "spark.j": "\n",
	}},
	{Name: "odd-keys", Conf: properties{"spark.a b": "1", "spark.c:d": "2", "spark.é": "3", "spark.": "4", `spark.x\y`: "5", "spark.#!": "6"}},
	{Name: "foreign-keys", Conf: properties{"hadoop.x": "1", "sparkling": "2", "Spark.y": "3"}},
	{Name: "executors", Conf: properties{
		"spark.executor.instances": "5", "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "9",
		"spark.dynamicAllocation.shuffleTracking.enabled": "true", "spark.kubernetes.allocation.batch.size": "20",
		"spark.kubernetes.executor.podNamePrefix": "mine", "spark.kubernetes.executor.deleteOnTermination": "false",
	}},
	{Name: "no-executors-at-first", Conf: properties{"spark.executor.instances": "0", "spark.dynamicAllocation.enabled": "true"}},
	{Name: "options-of-the-driver", Conf: properties{
		"spark.driver.extraJavaOptions": `-Dx="a b" -XX:+UseG1GC`, "spark.driver.extraClassPath": "/a:/b/*", "spark.driver.extraLibraryPath": "/l",
		"spark.driver.defaultJavaOptions": "-Dd=1", "spark.kubernetes.pyspark.pythonVersion": "3", "spark.driver.log.dfsDir": "/x",
	}},
	{Name: "executors-as-stateful-set", Conf: properties{
		"spark.kubernetes.allocation.pods.allocator": "statefulset", "spark.executor.instances": "2",
		"spark.kubernetes.executor.podNamePrefix": "a-b",
	}},
	{Name: "everything-of-executors", Conf: properties{
		"spark.kubernetes.executor.pod.featureSteps": "x.Y", "spark.kubernetes.executor.pod.excludedFeatureSteps": "x.Z",
		"spark.kubernetes.executor.scheduler.name": "s", "spark.kubernetes.executor.decommissionLabel": "l",
		"spark.kubernetes.executor.disableConfigMap": "true", "spark.kubernetes.executor.useDriverPodIP": "false",
		"spark.kubernetes.executor.node.selector.a": "b", "spark.kubernetes.executor.label.a": "b", "spark.kubernetes.executor.annotation.a": "{{APP_ID}}",
		"spark.kubernetes.executor.secrets.s": "/s", "spark.kubernetes.executor.secretKeyRef.S": "s:k", "spark.executorEnv.E": "f",
		"spark.executor.resource.gpu.amount": "1", "spark.executor.resource.gpu.vendor": "amd.com", "spark.task.resource.gpu.amount": "0.5",
		"spark.executor.resource.gpu.discoveryScript": "/find", "spark.kubernetes.executor.terminationGracePeriodSeconds": "5s",
		"spark.decommission.enabled": "true", "spark.kubernetes.decommission.script": "/d", "spark.executor.memoryOverheadFactor": "0.5",
	}},
	{Name: "client-settings", Conf: properties{
		"spark.kubernetes.driver.master": "https://10.0.0.1:443", "spark.kubernetes.report.interval": "5s",
		"spark.kubernetes.appKillPodDeletionGracePeriod": "3", "spark.kubernetes.driver.resourceNamePrefix": "no",
		"spark.kubernetes.driver.annotateExitException": "true", "spark.kubernetes.configMap.maxSize": "1000",
	}},

	// Several things at once, and odd forms of them.
	{Name: "annotations-of-all-kinds", Conf: properties{
		"spark.kubernetes.driver.annotation.json":                                                 "{\"a\": [1, \"b\\n\"]}\nsecond line",
		"spark.kubernetes.driver.annotation.a.b.c/d.e":                                            "${spark.app.name} $(X) \t",
		"spark.kubernetes.driver.service.annotation.service.beta.kubernetes.io/aws-load-balancer": "a: b\n",
		"spark.kubernetes.driver.service.annotation.e":                                            "",
		"spark.kubernetes.driver.service.label.app.kubernetes.io/name":                            "X_y.z", "spark.kubernetes.driver.service.label.spark-role": "mine",
		"spark.kubernetes.driver.label.app.kubernetes.io/part-of": "p", "spark.kubernetes.node.selector.kubernetes.io/arch": "arm64",
	}},
	{Name: "environment-of-sparks-own", Conf: properties{

		"spark.kubernetes.driverEnv.A": "${spark.app.name}\n$(SPARK_APPLICATION_ID)$$", "spark.kubernetes.driverEnv.a.b": "c",
		"spark.kubernetes.driver.secretKeyRef.A": "s:k",
	}},
	{Name: "python-with-everything", Resource: "local:///app/main.py", Class: "ignored.Class", Args: []string{"--x", "$(SPARK_USER)",
		"$$(Y)", "a=b", "--conf", "spark.x=y"}, Conf: properties{
		"spark.submit.pyFiles": "local:///a.zip,https://h/x.egg,local:///b.py", "spark.archives": "local:///env.tgz#env,s3a://b/x.zip#y",
		"spark.files": "local:///f.txt",
		"spark.jars":  "local:///j.jar", "spark.pyspark.python": "./env/bin/python", "spark.kubernetes.driver.secrets.aws": "/etc/aws/",
		"spark.executor.pyspark.memory": "1g",
		"spark.driver.memory":           "3g", "spark.kubernetes.driver.volumes.emptyDir.t.mount.path": "/tmp", "spark.python.worker.memory": "1g",
	}},
	{Name: "python-of-http-with-proxy-user", Resource: "https://user:pw@h.example:8443/dir/main.py", ProxyUser: "al ice@EXAMPLE.COM"},
	{Name: "resource-escaped", Class: " a.B$C ", Resource: "local:///opt/a%20b.jar"},
	{Name: "resource-with-query", Class: "a.B", Resource: "https://h/x.jar?sig=a&b=c"},
	{Name: "resource-with-fragment", Class: "a.B", Resource: "local:///x.jar#frag"},
	{Name: "resource-with-scheme-in-capitals", Class: "a.B", Resource: "LOCAL:///x.jar"},
	{Name: "resource-of-two", Class: "a.B", Resource: "local:///x.jar,local:///y.jar"},
	{Name: "resource-without-ending", Class: "a.B", Resource: "local:///opt/app"},
	{Name: "r-with-much-memory", Resource: rFile, Conf: properties{"spark.driver.memory": "10g", "spark.r.command": "Rscript"}},
	{Name: "r-with-factor", Resource: rFile, Conf: properties{
		"spark.driver.memory": "10g", "spark.kubernetes.memoryOverheadFactor": "0.3", "spark.driver.minMemoryOverhead": "5g",
	}},
	{Name: "ui-off", Conf: properties{"spark.ui.enabled": "false", "spark.ui.proxyBase": "/x", "spark.ui.reverseProxy": "true"}},
	{Name: "references", Conf: properties{
		"spark.driver.memoryOverhead": "${spark.driver.memory}", "spark.x": "a",
		"spark.kubernetes.container.image.pullSecrets":            "${spark.x},b",
		"spark.kubernetes.authenticate.driver.serviceAccountName": "sa-${spark.x}",
		"spark.kubernetes.driver.pod.name":                        "p-${spark.x}", "spark.kubernetes.hadoop.configMapName": "h-${spark.x}",
		"spark.driver.memory":             "3g",
		"spark.kubernetes.scheduler.name": "${spark.x}", "spark.kubernetes.driver.podTemplateContainerName": "${spark.x}",
	}},
	{Name: "reference-to-default-memory", Conf: properties{"spark.driver.memoryOverhead": "${spark.driver.memory}"}},
	{Name: "cores-in-millis", Conf: properties{
		"spark.kubernetes.driver.request.cores": "0.1", "spark.kubernetes.driver.limit.cores": "1500m", "spark.driver.cores": "4",
	}},
	{Name: "odd-properties", Conf: properties{
		"spark.a": "x=y", "spark.b": "  two leading", "spark.c": "trailing  ", "spark.d": "\ttab first", "spark.e": "\u00a0nbsp",
		"spark.f": "a\\nb\\", "spark.g": "\u0007bell",
		"spark.h": "\U0001F600\u200b", "spark.i:j": "1", "spark.k#l": "2", "spark.!m": "3", "spark.n\to": "4", "spark.é ü": "5",
		"spark.p\nq": "6", "spark.r\\": "7", "spark.UPPER": "8", "spark.upper": "9",
		"spark.s": "\n\n", "spark.t": "\r\n", "spark.u": "a,b , c", "spark.v": "'q' \"r\"", "spark.w": "{\"a\":1}", "spark.x": "#!=:",
		"spark.y": "\f",
	}},
	{Name: "name-of-other-characters", Conf: properties{appNameKey: "a#b=c:d!e\\f\tg"}},
	{Name: "kerberos-with-everything", Conf: properties{
		"spark.kerberos.principal": "p/_HOST@EXAMPLE.COM", "spark.kerberos.keytab": "local:///mnt/k/x.keytab",
		"spark.kubernetes.kerberos.krb5.configMapName": "krb",
		"spark.kubernetes.kerberos.tokenSecret.name":   "tok", "spark.kubernetes.kerberos.tokenSecret.itemKey": "t.k",
		"spark.kubernetes.hadoop.configMapName": "had",
		"spark.kubernetes.driver.secrets.kt":    "/mnt/k", "spark.kerberos.renewal.credentials": "ccache",
		"spark.kerberos.access.hadoopFileSystems": "",
	}},
	{Name: "login-of-yarn", Conf: properties{"spark.yarn.principal": "p@E", "spark.yarn.keytab": "local:///k"}},
	{Name: "overhead-over-minimum", Conf: properties{
		"spark.driver.memory": "20g", "spark.driver.memoryOverhead": "64m", "spark.driver.minMemoryOverhead": "1g",
		"spark.driver.memoryOverheadFactor": "0.5",
	}},
	{Name: "overhead-factor-below-a-mebibyte", Conf: properties{"spark.driver.memory": "7g", "spark.driver.memoryOverheadFactor": "0.29"}},
	{Name: "overhead-factor-of-many-digits", Conf: properties{"spark.kubernetes.memoryOverheadFactor": "0.123456789012345678"}},
	{Name: "memory-in-kilobytes", Conf: properties{"spark.driver.memory": "1500000KB", "spark.driver.memoryOverhead": "400000k"}},
	{Name: "memory-binary-unit-in-capitals", Conf: properties{"spark.driver.memory": "2048mi", "spark.driver.minMemoryOverhead": "1GiB"}},
	{Name: "memory-of-executor-huge", Conf: properties{"spark.executor.memory": "100pb"}},
	{Name: "memory-below-a-mebibyte", Conf: properties{"spark.driver.memory": "512k"}},
	{Name: "without-template-step", Conf: properties{
		"spark.kubernetes.driver.pod.excludedFeatureSteps": features + "PodTemplateConfigMapStep," + features + "HadoopConfDriverFeatureStep," + features + "DriverServiceFeatureStep",
		"spark.kubernetes.hadoop.configMapName":            "x", "spark.driver.port": "7777", "spark.driver.host": "h",
	}, Executor: "apiVersion: v1\nkind: Pod\nspec: {nodeName: a}\n"},
	{Name: "all-ports", Conf: properties{
		"spark.connect.grpc.binding.port": "16000", "spark.ui.port": "4050", "spark.driver.port": "40000",
		"spark.driver.blockManager.port": "40001", "spark.blockManager.port": "40002",
	}},
	{Name: "r-with-proxy-user", Resource: rFile, ProxyUser: "bob"},
	{Name: "image-by-digest", Conf: properties{
		imageKey: "registry.example:5000/a/b@sha256:" + digest, "spark.kubernetes.container.image.pullPolicy": "Always",
		"spark.kubernetes.container.image.pullSecrets": "a,a",
	}},
	{Name: "long-names", Conf: properties{appNameKey: digest + digest, "spark.kubernetes.driver.pod.name": "x." + digest[:60]}},
	{Name: "service-preferring-ipv6", Conf: properties{
		"spark.kubernetes.driver.service.ipFamilies": "IPv6", "spark.kubernetes.driver.service.ipFamilyPolicy": "PreferDualStack",
	}},
	{Name: "yunikorn", Conf: properties{
		"spark.kubernetes.driver.annotation.spark-exit-exception":         "x",
		"spark.kubernetes.executor.annotation.yunikorn.apache.org/app-id": "{{APP_ID}}",
		"spark.kubernetes.driver.annotation.yunikorn.apache.org/app-id":   "{{APP_ID}}",
		"spark.kubernetes.driver.label.queue":                             "root.default", "spark.kubernetes.scheduler.name": "yunikorn",
	}},
	{Name: "executor-label-of-spark", Conf: properties{"spark.kubernetes.executor.label.spark-app-selector": "x"}},
	{Name: "authenticated", Conf: properties{
		"spark.authenticate": "false", "spark.authenticate.secret": "s3cret", "spark.io.encryption.enabled": "false",
		"spark.ssl.keyPassword": "x", "spark.kubernetes.executor.useDriverPodIP": "false",
		"spark.kubernetes.driver.annotateExitException": "false",
	}},
	{Name: "references-to-defaults", Conf: properties{
		imageKey: "own", "spark.kubernetes.driver.container.image": "a:${spark.driver.memory}-${spark.driver.cores}-${spark.driver.port}-${spark.blockManager.port}-" +
			"${spark.driver.blockManager.port}-${spark.executor.memory}-${spark.executor.cores}-${spark.task.cpus}-${spark.driver.memoryOverheadFactor}-" +
			"${spark.kubernetes.memoryOverheadFactor}-${spark.kubernetes.container.image.pullPolicy}-${spark.kubernetes.executor.container.image}-" +
			"${spark.kubernetes.driver.service.ipFamilies}-${spark.kubernetes.driver.service.ipFamilyPolicy}-${spark.executor.instances}-${spark.local.dir}",
	}},
}
