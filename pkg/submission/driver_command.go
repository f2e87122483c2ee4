package submission

import "slices"

const propertiesPath = confDir + "/spark.properties"

// PythonRunner is the main class that runs a Python file.
const PythonRunner = "org.apache.spark.deploy.PythonRunner"

// runners are the main classes of the resource kinds that have no class of their own.
var runners = map[ResourceKind]string{
	Python: PythonRunner,
	R:      "org.apache.spark.deploy.RRunner",
}

// driverCommand sets the arguments with which the image's entrypoint starts the driver. It mirrors
// DriverCommandFeatureStep.
func driverCommand(d *driver) {
	kind := d.plan.Resource.Language()
	class, runs := runners[kind]
	if !runs {
		class = d.plan.MainClass
	}
	args := []string{"driver"}
	if d.plan.ProxyUser != "" {
		args = append(args, "--proxy-user", d.plan.ProxyUser)
	}
	args = append(args, "--properties-file", propertiesPath, "--class", class, d.resourceURI())
	d.container.Args = slices.Concat(d.container.Args, args, d.plan.Arguments)
	if kind == Python {
		d.pythonEnvironment()
	}
	d.written["spark.kubernetes.resource.type"] = string(kind)
}

// resourceURI returns where the driver finds the resource. Only an R resource may be a plain file: Spark never uploads it,
// so the path is absolute and in the image.
func (d *driver) resourceURI() string {
	resource := d.plan.Resource
	uri, ofR := resource.URI, resource.Language() == R
	switch {
	case resource.none():
		return NoResource
	case ofR && IsClientLocal(uri) && uri[0] == '/':
		return "file:" + uri
	case ofR && uriScheme.MatchString(uri):
		return uri
	}
	for _, item := range splitList(uri) {
		d.conf.checkRemote("resource", item)
	}
	return uri
}

func (d *driver) pythonEnvironment() {
	const version = "spark.kubernetes.pyspark.pythonVersion"
	if d.rules.PythonVersionKey && d.conf.set(version) {
		d.conf.oneOf(version, "3")
	}
	const ofApplication, ofDriver = "spark.pyspark.python", "spark.pyspark.driver.python"
	if _, python, set := d.conf.lookup(ofApplication); set {
		d.addEnv("PYSPARK_PYTHON", python)
	}
	if _, python, set := d.conf.lookup(ofDriver, ofApplication); set {
		d.addEnv("PYSPARK_DRIVER_PYTHON", python)
	}
}
