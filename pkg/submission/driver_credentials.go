package submission

import "strings"

const (
	driverAuthPrefix  = "spark.kubernetes.authenticate.driver."
	oauthTokenSuffix  = "oauthToken"
	redactedToken     = "<present_but_redacted>"
	serviceAccountKey = driverAuthPrefix + "serviceAccountName"
)

// driverCredentials sets the service account with which the driver calls the API server. It keeps tokens out of the driver's
// config map. It mirrors DriverKubernetesCredentialsFeatureStep, which would also copy credentials from files of the
// submitting host into a Secret.
func driverCredentials(d *driver) {
	for _, key := range []string{oauthTokenSuffix, "caCertFile", "clientKeyFile", "clientCertFile"} {
		if d.conf.set(driverAuthPrefix + key) {
			// The value may be the token itself, and the text of an error gets into logs and conditions.
			d.conf.refuse(driverAuthPrefix+key, "", "would put credentials into a Secret of the attempt",
				"use "+serviceAccountKey+", or mount your own Secret and set "+driverAuthPrefix+"mounted.*")
		}
	}
	if account := d.conf.text("", serviceAccountKey); account != "" {
		d.conf.checkName(serviceAccountKey, account, "service account")
		d.pod.Spec.ServiceAccountName = account
		d.pod.Spec.DeprecatedServiceAccount = account
	}
	for key := range d.conf.values {
		if strings.HasSuffix(key, oauthTokenSuffix) {
			d.written[key] = redactedToken
		}
	}
}
