package submission

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

const (
	masterKey         = "spark.master"
	defaultMaster     = "k8s://https://kubernetes.default.svc"
	namespaceKey      = "spark.kubernetes.namespace"
	deployModeKey     = "spark.submit.deployMode"
	submitTimeKey     = "spark.app.submitTime"
	jarsKey           = "spark.jars"
	pyFilesKey        = "spark.submit.pyFiles"
	driverHostKey     = "spark.driver.host"
	bindAddressKey    = "spark.driver.bindAddress"
	driverMemoryKey   = "spark.driver.memory"
	executorMemoryKey = "spark.executor.memory"
	instancesKey      = "spark.executor.instances"
	dynamicKey        = "spark.dynamicAllocation.enabled"
)

// normalise changes the properties as SparkSubmit does before it passes them to the driver builder.
func (d *driver) normalise() {
	d.keepSparkProperties()
	d.nameImages()
	d.setMaster()
	d.setNamespace()
	d.setDeployMode()
	d.refuseAddress()
	d.checkSizes()
	d.checkClient()
	d.checkPackages()
	d.setFileLists()
	d.setKerberosLogin()
	if !d.conf.set(submitTimeKey) {
		d.conf.values[submitTimeKey] = strconv.FormatInt(d.plan.SubmitTime.UnixMilli(), 10)
	}
}

func (d *driver) keepSparkProperties() {
	kept := make(map[string]string, len(d.conf.values))
	for _, key := range sortedKeys(d.conf.values) {
		if strings.HasPrefix(key, "spark.") {
			kept[key] = d.conf.values[key]
		} else {
			d.ignored = append(d.ignored, key)
		}
	}
	d.conf.values = kept
}

// nameImages sets the default image if no property names one for a role, so that executors get it, too. It also replaces the
// placeholder by the version. If Spark replaces the placeholder by itself, the properties keep it, unless the version is a
// text that no Spark would insert.
func (d *driver) nameImages() {
	values := d.conf.values
	complete := d.conf.set(driverImageKey) && d.conf.set(executorImageKey)
	if d.plan.DefaultImage != "" && !d.conf.set(imageKey) && !complete {
		values[imageKey] = d.plan.DefaultImage
	}
	if d.rules.ImagePlaceholder && releaseNumber.MatchString(d.plan.SparkVersion) {
		return
	}
	for key, value := range maps.Clone(values) {
		if strings.HasPrefix(key, "spark.kubernetes.") && strings.HasSuffix(key, "container.image") {
			values[key] = WithVersion(value, d.plan.SparkVersion)
		}
	}
}

var releaseNumber = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// setMaster completes spark.master. From a Kubernetes master the driver reads only the kind of cluster. The address that it
// calls is spark.kubernetes.driver.master. SparkSubmit creates no driver Pod for another master. But the driver in the Pod
// accepts those that it can reach: a standalone cluster's, and none (local).
func (d *driver) setMaster() {
	master, set := d.conf.values[masterKey]
	if !set {
		master = defaultMaster
	}
	if standaloneMaster.MatchString(master) {
		return
	}
	address, kubernetes := strings.CutPrefix(master, "k8s://")
	scheme, _, full := strings.Cut(address, "://")
	switch {
	case !kubernetes, address == "", full && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http"):
		d.conf.refuse(masterKey, master, "is no address that the driver can run with",
			"leave it out, or write k8s://https://<host>:<port>, or spark://<host>:<port> for a standalone cluster; "+
				"local[*] goes into spark.kubernetes.driver.master")
	case !full:
		master = "k8s://https://" + address
	}
	d.conf.values[masterKey] = master
}

// standaloneMaster matches the master of a standalone cluster, which the driver joins.
var standaloneMaster = regexp.MustCompile(`^spark://[^/:]+:[0-9]+(,[^/:]+:[0-9]+)*$`)

// setNamespace always writes the namespace: otherwise the driver would create its executors in "default".
func (d *driver) setNamespace() {
	if given, set := d.conf.values[namespaceKey]; set && given != d.plan.Namespace {
		d.conf.refuse(namespaceKey, given, "is not the application's own namespace", "leave it out")
	}
	d.conf.values[namespaceKey] = d.plan.Namespace
}

func (d *driver) setDeployMode() {
	if given, set := d.conf.values[deployModeKey]; set && given != "cluster" {
		d.conf.refuse(deployModeKey, given, "is not how an operator runs a driver", "leave it out, or write cluster")
	}
	d.conf.values[deployModeKey] = "cluster"
}

// refuseAddress removes the two addresses that the submission manages. Like SparkSubmit, it ignores the host name, which
// jobs keep from client mode, and refuses the bind address.
func (d *driver) refuseAddress() {
	delete(d.conf.values, driverHostKey)
	if given, set := d.conf.values[bindAddressKey]; set {
		d.conf.refuse(bindAddressKey, given, "is always the driver pod's own address", "leave it out")
	}
}

// checkSizes refuses the sizes that SparkSubmit refuses, both at the submission and again inside the driver.
func (d *driver) checkSizes() {
	for _, key := range []string{driverMemoryKey, executorMemoryKey} {
		d.checkMemory(key)
	}
	for _, key := range []string{driverCoresKey, "spark.executor.cores", "spark.cores.max"} {
		readPlain(d.conf, 0, positives, key)
	}
	// The driver reads it by a typed entry and ends if the value is invalid. SparkSubmit only checks for the word true.
	d.conf.boolean(false, dynamicKey)
	if !strings.EqualFold(d.conf.values[dynamicKey], "true") {
		readPlain(d.conf, 0, positives, instancesKey)
	}
}

func (d *driver) checkMemory(key string) {
	given, set := d.conf.values[key]
	if !set {
		return
	}
	if readPlain(d.conf, 1, sizes(d.rules), key) == 0 {
		d.conf.refuse(key, given, "is not a positive number", "write a size such as 4g")
	}
}

// setFileLists normalises the lists of files. It adds a Java application's own jar to its jars if the jar is not among them:
// Spark would list it twice, but the APIs give the jar in both places.
func (d *driver) setFileLists() {
	values := d.conf.values
	for _, key := range []string{jarsKey, "spark.files", "spark.archives", pyFilesKey} {
		if d.conf.set(key) {
			values[key] = strings.Join(d.remoteItems(key), ",")
		}
	}
	if !d.conf.set(pyFilesKey) {
		values[pyFilesKey] = ""
	}
	d.checkJarsOfR()
	if d.plan.Resource.Language() != Java {
		return
	}
	jars := splitList(values[jarsKey])
	listed := map[string]bool{NoResource: true}
	for _, jar := range jars {
		listed[jar] = true
	}
	for _, jar := range splitList(d.plan.Resource.URI) {
		if !listed[jar] {
			listed[jar] = true
			jars = append(jars, jar)
		}
	}
	values[jarsKey] = strings.Join(jars, ",")
}

// checkJarsOfR refuses jars of an R application. Spark looks into each jar for an R package, but can only read files of the
// submitting host. spark-submit would end, and so would the driver, before it downloads any.
func (d *driver) checkJarsOfR() {
	if jars := d.conf.values[jarsKey]; jars != "" && d.plan.Resource.Language() == R {
		d.conf.refuse(jarsKey, jars, "cannot go with an R application, in which Spark takes jars for R packages on its own host",
			"put the jars into the image's /opt/spark/jars, or name them by "+packagesKey)
	}
}

func (d *driver) remoteItems(key string) []string {
	items := splitList(d.conf.values[key])
	for _, item := range items {
		d.conf.checkRemote(key, item)
		if item != d.plan.Resource.URI { // Spark passes the resource on unchanged
			d.conf.checkScheme(key, item)
		}
	}
	return items
}
