package submission

import "testing"

func TestTheSubmissionsOwnPropertiesAreAlwaysThere(t *testing.T) {
	plan := without(without(pi(), "spark.app.name"), "spark.kubernetes.container.image")
	plan.DefaultImage = "spark:{{SPARK_VERSION}}"
	wantEqual(t, "properties", propertiesOf(t, mustBuild(t, plan)), map[string]string{
		"spark.app.id":                          "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061",
		"spark.app.submitTime":                  "1763711999871",
		"spark.driver.blockManager.port":        "7079",
		"spark.driver.host":                     "spark-pi-4c1f889aa56d6000-driver-svc.default.svc",
		"spark.driver.port":                     "7078",
		"spark.jars":                            "local:///opt/spark/examples/jars/spark-examples.jar",
		"spark.kubernetes.container.image":      "spark:4.0.1",
		"spark.kubernetes.driver.pod.name":      "spark-pi-4c1f889aa56d6000-driver",
		"spark.kubernetes.memoryOverheadFactor": "0.1",
		"spark.kubernetes.namespace":            "default",
		"spark.kubernetes.resource.type":        "java",
		"spark.kubernetes.submitInDriver":       "true",
		"spark.master":                          "k8s://https://kubernetes.default.svc",
		"spark.submit.deployMode":               "cluster",
		"spark.submit.pyFiles":                  "",
	})
}

func TestPropertiesThatTheSubmissionCompletes(t *testing.T) {
	for name, row := range map[string]struct {
		plan      Plan
		key, want string
	}{
		"a master without scheme gets https":    {pi("spark.master=k8s://h:6443"), masterKey, "k8s://https://h:6443"},
		"a master keeps its scheme":             {pi("spark.master=k8s://HTTP://h"), masterKey, "k8s://HTTP://h"},
		"a standalone cluster's master is left": {pi("spark.master=spark://h:7077"), masterKey, "spark://h:7077"},
		"a master with a variable is left":      {pi("spark.master=k8s://https://$HOST:$PORT"), masterKey, "k8s://https://$HOST:$PORT"},
		"a submit time is kept":                 {pi("spark.app.submitTime=1"), submitTimeKey, "1"},
		"an application id is replaced":         {pi("spark.app.id=mine"), "spark.app.id", "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061"},
		"a driver host is replaced":             {pi("spark.driver.host=h"), driverHostKey, "spark-pi-4c1f889aa56d6000-driver-svc.default.svc"},
		"the jar is added to the jars":          {pi("spark.jars= local:///a.jar,, s3a://b/c.jar"), jarsKey, "local:///a.jar,s3a://b/c.jar,local:///opt/spark/examples/jars/spark-examples.jar"},
		"but not a second time":                 {pi("spark.jars=local:///opt/spark/examples/jars/spark-examples.jar"), jarsKey, "local:///opt/spark/examples/jars/spark-examples.jar"},
		"the version is put into images":        {pi("spark.kubernetes.executor.container.image=x:{{SPARK_VERSION}}"), executorImageKey, "x:4.0.1"},
		"not where Spark does so itself":        {version(pi("spark.kubernetes.executor.container.image=x:{{SPARK_VERSION}}"), "4.1.0"), executorImageKey, "x:{{SPARK_VERSION}}"},
		"unless the version is a text":          {version(pi("spark.kubernetes.executor.container.image=x:{{SPARK_VERSION}}"), "v4_1_0"), executorImageKey, "x:v4_1_0"},
		"but into no other property":            {pi("spark.x.container.image={{SPARK_VERSION}}"), "spark.x.container.image", "{{SPARK_VERSION}}"},
		"lists of files lose blanks and commas": {pi("spark.files=, s3a://a , s3a://b"), "spark.files", "s3a://a,s3a://b"},
	} {
		t.Run(name, func(t *testing.T) {
			wantEqual(t, row.key, propertiesOf(t, mustBuild(t, row.plan))[row.key], row.want)
		})
	}
}

func TestAPythonApplicationHasJarsOnlyWhereItNamesSome(t *testing.T) {
	if _, set := propertiesOf(t, mustBuild(t, python(pi())))[jarsKey]; set {
		t.Error("spark.jars is set")
	}
	wantEqual(t, "jars", propertiesOf(t, mustBuild(t, python(pi("spark.jars=local:///a.jar"))))[jarsKey], "local:///a.jar")
}

func TestAnApplicationWithoutResourceHasAnEmptyListOfJars(t *testing.T) {
	for _, uri := range []string{"", "spark-internal"} {
		plan := pi()
		plan.Resource = Resource{URI: uri}
		objects := mustBuild(t, plan)
		if jars, set := propertiesOf(t, objects)[jarsKey]; !set || jars != "" {
			t.Errorf("spark.jars of %q = %q", uri, jars)
		}
	}
}

func TestPropertiesThatAnOperatorCannotFollowAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		plan      Plan
		fragments []string
	}{
		"another namespace":              {pi("spark.kubernetes.namespace=x"), []string{`spark.kubernetes.namespace "x"`, "leave it out"}},
		"client mode":                    {pi("spark.submit.deployMode=client"), []string{`spark.submit.deployMode "client"`}},
		"a bind address":                 {pi("spark.driver.bindAddress=::1"), []string{`spark.driver.bindAddress "::1"`}},
		"a master that is not reachable": {pi("spark.master=yarn"), []string{`spark.master "yarn"`, "leave it out"}},
		"a host that begins like local":  {pi("spark.master=localhost:7077"), []string{`spark.master "localhost:7077"`}},
		"a master of another protocol":   {pi("spark.master=k8s://ftp://h"), []string{"spark.master"}},
		"a jar of the submitting host":   {pi("spark.jars=local:///a.jar,/b.jar"), []string{`spark.jars "/b.jar"`, "local:///path"}},
		"a file of the submitting host": {
			pi("spark.files=file:///etc/x"), []string{`spark.files "file:///etc/x"`},
		},
		"an archive of the submitting host": {
			pi("spark.archives=env.tgz#env"), []string{`spark.archives "env.tgz#env"`},
		},
		"Python of the submitting host": {
			pi("spark.submit.pyFiles=lib.py"), []string{`spark.submit.pyFiles "lib.py"`},
		},
		"driver memory of nothing":       {pi("spark.driver.memory=0g"), []string{"spark.driver.memory"}},
		"executor memory of nothing":     {pi("spark.executor.memory=0g"), []string{"spark.executor.memory"}},
		"executor memory that is broken": {pi("spark.executor.memory=1.5g"), []string{`spark.executor.memory "1.5g"`}},
		"no cores":                       {pi("spark.executor.cores=0"), []string{`spark.executor.cores "0"`}},
		"half a core":                    {pi("spark.driver.cores=0.5"), []string{`spark.driver.cores "0.5"`}},
		"no executors":                   {pi("spark.executor.instances=0"), []string{`spark.executor.instances "0"`}},
		"neither true nor false":         {pi("spark.dynamicAllocation.enabled=yes"), []string{`"yes"`, "true or false"}},
		"no cores at all":                {pi("spark.cores.max=0"), []string{`spark.cores.max "0"`}},
		"cores with a blank":             {pi("spark.driver.cores= 2"), []string{`spark.driver.cores " 2"`}},
		"memory by reference":            {pi("spark.driver.memory=${spark.x}", "spark.x=2g"), []string{`spark.driver.memory "${spark.x}"`}},
		"executors by reference":         {pi("spark.executor.instances=${spark.x}", "spark.x=2"), []string{`spark.executor.instances "${spark.x}"`}},
		"no executors, allocated by another word for true": {
			pi("spark.executor.instances=0", "spark.dynamicAllocation.enabled= true "), []string{`spark.executor.instances "0"`},
		},
		"a master of nothing":             {pi("spark.master=k8s://"), []string{`spark.master "k8s://"`}},
		"a URI with a blank":              {pi("spark.jars=local:///a b.jar"), []string{`spark.jars "local:///a b.jar" is no URI`, "%20"}},
		"a URI with two fragments":        {pi("spark.archives=https://h/a.tgz#a#b"), []string{`spark.archives "https://h/a.tgz#a#b" is no URI`}},
		"a scheme in capitals":            {pi("spark.files=S3A://b/c,LOCAL:///a"), []string{`spark.files "S3A://b/c"`, "write s3a:", "write local:"}},
		"jars of an R application":        {running(pi("spark.jars=local:///a.jar"), "local:///a.R"), []string{`spark.jars "local:///a.jar"`, "R application", "/opt/spark/jars"}},
		"a timeout of no number":          {pi("spark.kubernetes.submission.requestTimeout=1s"), []string{`spark.kubernetes.submission.requestTimeout "1s"`}},
		"a setting of no boolean":         {pi("spark.kubernetes.trust.certificates=yes"), []string{`spark.kubernetes.trust.certificates "yes"`}},
		"a boolean with a blank":          {pi("spark.kubernetes.setSubmitTimeInDriver= true"), []string{`spark.kubernetes.setSubmitTimeInDriver " true"`}},
		"a buffer below nothing":          {pi("spark.buffer.size=-1"), []string{`spark.buffer.size "-1"`}},
		"a config map that none can be":   {pi("spark.kubernetes.configMap.maxSize=1048577"), []string{`"1048577"`, "1048576"}},
		"a package without version":       {pi("spark.jars.packages=a:b:1,org.example:library"), []string{`spark.jars.packages "org.example:library"`, "<version>"}},
		"a package's part that is blank":  {pi("spark.jars.packages=a: :1"), []string{`spark.jars.packages "a: :1"`}},
		"an exclusion of a version":       {pi("spark.jars.packages=a:b:1", "spark.jars.excludes=c:d:2"), []string{`spark.jars.excludes "c:d:2"`}},
		"a folder for packages, relative": {pi("spark.jars.ivy=ivy"), []string{`spark.jars.ivy "ivy"`, "/tmp"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, row.plan, row.fragments...)
		})
	}
}

func TestPropertiesThatSparkAcceptsAreAccepted(t *testing.T) {
	for name, plan := range map[string]Plan{
		"no executors with dynamic allocation": pi("spark.executor.instances=0", "spark.dynamicAllocation.enabled=TRUE"),
		"executor memory without unit":         pi("spark.executor.memory=1024"),
		"the namespace itself":                 pi("spark.kubernetes.namespace=default"),
		"cluster mode":                         pi("spark.submit.deployMode=cluster"),
		"a local driver":                       pi("spark.kubernetes.driver.master=local[2]"),
		"binary units from Spark 4.2 on":       version(pi("spark.driver.memory=2Gi"), "4.2.0"),
		"packages for the driver to resolve": pi("spark.jars.packages=org.apache.hadoop:hadoop-aws:3.4.1,a/b:1", "spark.jars.excludes=c:d",
			"spark.jars.repositories=https://repo.example", "spark.jars.ivy=/tmp/ivy", "spark.jars.ivySettings=/opt/ivy.xml"),
		"no jars of an R application":          running(pi("spark.jars= ,", "spark.jars.packages=a:b:1"), "local:///a.R"),
		"a resource with a scheme in capitals": running(pi(), "HTTPS://h/a.jar"),
		"exclusions from nothing":              pi("spark.jars.excludes=a"),
		"files of stores":                      pi("spark.jars=s3a://b/*.jar,http://[::1]:80/a.jar", "spark.files=hdfs:///é?x=%20#y"),
		"a timeout with blanks":                pi("spark.kubernetes.submission.requestTimeout= 5000 "),
	} {
		t.Run(name, func(t *testing.T) {
			mustBuild(t, plan)
		})
	}
	wantRefused(t, version(pi("spark.driver.memory=2Gi"), "4.1.0"), `spark.driver.memory "2Gi"`)
}

func TestAnImageIsNamedByPropertyOrDefault(t *testing.T) {
	bare := without(pi(), imageKey)
	wantRefused(t, bare, imageKey)
	wantRefused(t, with(bare, imageKey+"="), imageKey)
	wantRefused(t, with(bare, driverImageKey+"=d"), executorImageKey, "is missing")
	wantRefused(t, with(bare, driverImageKey+"=d", executorImageKey+"="), executorImageKey, "is missing")
	wantRefused(t, with(bare, driverImageKey+"=d", executorImageKey+"= e "), executorImageKey, "blank")
	for _, alone := range []string{driverMasterKey + "=local[2]", masterKey + "=spark://master:7077"} {
		if _, err := Build(with(bare, driverImageKey+"=d", alone)); err != nil {
			t.Errorf("%s: refused with %v", alone, err)
		}
	}
	bare.DefaultImage = "default"
	for name, row := range map[string]struct {
		plan         Plan
		image, ofAll string
	}{
		"none":                    {bare, "default", "default"},
		"one for all":             {with(bare, imageKey+"=all"), "all", "all"},
		"one for the driver":      {with(bare, driverImageKey+"=d"), "d", "default"},
		"one for executors":       {with(bare, executorImageKey+"=e"), "default", "default"},
		"one for each":            {with(bare, executorImageKey+"=e", driverImageKey+"=d"), "d", ""},
		"the driver's goes first": {with(bare, imageKey+"=all", driverImageKey+"=d"), "d", "all"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			wantEqual(t, "image", driverOf(objects).Image, row.image)
			wantEqual(t, "property", propertiesOf(t, objects)[imageKey], row.ofAll)
		})
	}
}
