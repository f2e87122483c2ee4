package submission

import "slices"

const propertiesPath = confDir + "/spark.properties"

// runners are the main classes of the kinds that have no class of their own.
var runners = map[ResourceKind]string{
	Python: "org.apache.spark.deploy.PythonRunner",
	R:      "org.apache.spark.deploy.RRunner",
}

// driverCommand sets the arguments with which the image's entrypoint starts the driver. It mirrors
// DriverCommandFeatureStep.
func driverCommand(d *driver) {
	kind := d.plan.Resource.kind()
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

// resourceURI returns where the driver finds the resource. R's alone may be a file: Spark never uploads that, so it
// means one in the image, which a relative path cannot.
func (d *driver) resourceURI() string {
	resource := d.plan.Resource
	switch uri := resource.URI; {
	case resource.none():
		return sparkInternal
	case !isClientLocal(uri), resource.kind() == R && uriScheme.MatchString(uri):
		return uri
	case resource.kind() == R && uri[0] == '/':
		return "file:" + uri
	default:
		d.conf.refuse("resource", uri, clientLocalProblem, clientLocalRemedy)
		return uri
	}
}

func (d *driver) pythonEnvironment() {
	const ofApplication, ofDriver = "spark.pyspark.python", "spark.pyspark.driver.python"
	if python := d.conf.text("", ofApplication); python != "" {
		d.addEnv("PYSPARK_PYTHON", python)
	}
	if python := d.conf.text("", ofDriver, ofApplication); python != "" {
		d.addEnv("PYSPARK_DRIVER_PYTHON", python)
	}
}
