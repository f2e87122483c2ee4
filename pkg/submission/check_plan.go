package submission

// checkPlan refuses what no object could be made of.
func (d *driver) checkPlan() {
	names := d.plan.Names
	for _, required := range []pair{
		{"namespace", d.plan.Namespace},
		{"names.appID", names.AppID},
		{"names.prefix", names.Prefix},
		{"names.driverPod", names.DriverPod},
		{"names.configMap", names.ConfigMap},
		{"names.localDir", names.LocalDir},
	} {
		if required.value == "" {
			d.conf.refuse(required.name, "", "is missing", "set it")
		}
	}
	d.conf.checkLabelValue("names.appID", names.AppID)
	d.conf.checkLabelValue("sparkVersion", d.plan.SparkVersion)
	d.checkResource()
}

// checkResource refuses an application that says nothing to run. spark-submit opens a jar to look for its main class,
// which needs the jar and the credentials for it at hand.
func (d *driver) checkResource() {
	resource := d.plan.Resource
	switch kind := resource.kind(); kind {
	case Java:
		if d.plan.MainClass == "" {
			d.conf.refuse("mainClass", "", "is missing", "name the class, since nobody opens the jar to look for it")
		}
	case Python, R:
		if resource.none() {
			d.conf.refuse("resource", resource.URI, "is no "+string(kind)+" file", "name the application's main file")
		}
	default:
		d.conf.refuse("resource.kind", string(kind), "is unknown", "write java, python or r")
	}
}
