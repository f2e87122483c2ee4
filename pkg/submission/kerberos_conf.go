package submission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	principalKey     = "spark.kerberos.principal"
	keytabKey        = "spark.kerberos.keytab"
	krb5PathKey      = "spark.kubernetes.kerberos.krb5.path"
	krb5ConfigMapKey = "spark.kubernetes.kerberos.krb5.configMapName"
	tokenSecretKey   = "spark.kubernetes.kerberos.tokenSecret.name"
	tokenItemKey     = "spark.kubernetes.kerberos.tokenSecret.itemKey"

	tokenDir = "/mnt/secrets/hadoop-credentials"
)

// kerberosConf mounts Kerberos' configuration and delegation tokens that exist already. It mirrors
// KerberosConfDriverFeatureStep, which would also upload a keytab of the submitting host or log in there to get
// tokens.
func kerberosConf(d *driver) {
	d.mountKrb5()
	d.checkKeytab()
	if d.conf.bothOrNeither(tokenSecretKey, tokenItemKey) {
		d.mountTokens()
	}
}

func (d *driver) mountKrb5() {
	if path, set := d.conf.values[krb5PathKey]; set {
		d.conf.refuse(krb5PathKey, path, clientLocalProblem, "put krb5.conf into a config map and name it by "+krb5ConfigMapKey)
	}
	name, named := d.configMapNamedBy(krb5ConfigMapKey)
	if !named {
		return
	}
	const volume = "krb5-file"
	d.addVolume(volume, configMapVolume(name))
	d.addMount(corev1.VolumeMount{Name: volume, MountPath: "/etc/krb5.conf", SubPath: "krb5.conf"})
}

// checkKeytab leaves a keytab in the image or on a volume to the driver, which logs in with it by itself.
func (d *driver) checkKeytab() {
	if d.plan.ProxyUser != "" && d.conf.set(principalKey) {
		d.conf.refuse("proxyUser", d.plan.ProxyUser, "cannot go with "+principalKey, "set one of them")
	}
	if !d.conf.bothOrNeither(principalKey, keytabKey) {
		return
	}
	if keytab := d.conf.text("", keytabKey); !strings.HasPrefix(keytab, "local:") {
		d.conf.refuse(keytabKey, keytab, clientLocalProblem,
			"mount the keytab by spark.kubernetes.driver.secrets.<name>=<path> and write local://<path>/<file>")
	}
}

func (d *driver) mountTokens() {
	const volume = "hadoop-secret"
	secret := &corev1.SecretVolumeSource{SecretName: d.conf.text("", tokenSecretKey)}
	d.addVolume(volume, corev1.VolumeSource{Secret: secret})
	d.addMount(corev1.VolumeMount{Name: volume, MountPath: tokenDir})
	d.addEnv("HADOOP_TOKEN_FILE_LOCATION", tokenDir+"/"+d.conf.text("", tokenItemKey))
}
