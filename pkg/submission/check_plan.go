package submission

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// checkPlan refuses a plan from which no object could be built.
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
			d.conf.refuse(required.name, "", finding.Missing, "set it")
		}
	}
	d.conf.checkLabelValue("names.appID", names.AppID)
	d.checkVersion()
	d.checkResource()
}

// checkVersion refuses a version that cannot be the value of a label.
func (d *driver) checkVersion() {
	const field = "sparkVersion"
	version := d.plan.SparkVersion
	if len(version) <= validation.LabelValueMaxLength && len(validation.IsValidLabelValue(version)) > 0 {
		d.conf.refuse(field, version, finding.NoVersionLabel.Message, finding.NoVersionLabel.Remedy)
		return
	}
	d.conf.checkLabelValue(field, version)
}

// checkResource refuses an application with nothing to run. spark-submit opens a jar to find its main class. That would need
// the jar and the credentials for it.
func (d *driver) checkResource() {
	resource := d.plan.Resource
	if uri := resource.URI; uri != trimmed(uri) {
		d.conf.refuse("resource", uri, "begins or ends with a blank", "leave the blank out")
		return
	}
	switch kind := resource.Language(); kind {
	case Java:
		if d.plan.MainClass == "" {
			d.conf.refuse("mainClass", "", finding.Missing, "name the class: Firesteel does not open the jar to find it")
		}
	case Python, R:
		const remedy = "name the application's main file"
		if resource.URI == "" {
			d.conf.refuse("resource", "", finding.Missing, remedy)
		} else if resource.none() {
			d.conf.refuse("resource", resource.URI, "is no "+string(kind)+" file", remedy)
		}
	default:
		d.conf.refuse("resource.kind", string(kind), "is unknown", "write java, python or r")
	}
}
