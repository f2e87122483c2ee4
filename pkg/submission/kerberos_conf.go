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

// kerberosConf mounts Kerberos' configuration and existing delegation tokens. It mirrors KerberosConfDriverFeatureStep,
// which would also upload a keytab of the submitting host or log in there to get tokens.
func kerberosConf(d *driver) {
	d.mountKrb5()
	d.mountTokens()
}

// setKerberosLogin takes the login from YARN's older property names if necessary, as SparkSubmit does. It refuses what the
// step would refuse, even if the step is excluded.
func (d *driver) setKerberosLogin() {
	d.conf.older = map[string]string{}
	for key, older := range map[string]string{principalKey: "spark.yarn.principal", keytabKey: "spark.yarn.keytab"} {
		if login, set := d.conf.values[older]; set && !d.conf.set(key) {
			d.conf.values[key], d.conf.older[key] = login, older
		}
	}
	d.checkKeytab()
	d.conf.bothOrNeither(tokenSecretKey, tokenItemKey)
	if path, set := d.conf.values[krb5PathKey]; set {
		d.conf.refuse(krb5PathKey, path, clientLocalProblem, "put krb5.conf into a config map and name it by "+krb5ConfigMapKey)
	}
}

// checkKeytab accepts a keytab in the image or on a volume: the driver logs in with it by itself.
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

func (d *driver) mountKrb5() {
	name, named := d.configMapNamedBy(krb5ConfigMapKey)
	if !named {
		return
	}
	mount := corev1.VolumeMount{Name: "krb5-file", MountPath: "/etc/krb5.conf", SubPath: "krb5.conf"}
	d.mount(mount, configMapVolume(name), krb5ConfigMapKey)
}

func (d *driver) mountTokens() {
	if !d.conf.set(tokenSecretKey) {
		return
	}
	name := d.conf.text("", tokenSecretKey)
	if name == "" {
		d.conf.refuse(tokenSecretKey, "", "names no secret", "name one, or leave it out")
	}
	source := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}
	d.mount(corev1.VolumeMount{Name: "hadoop-secret", MountPath: tokenDir}, source, tokenSecretKey)
	d.addEnv("HADOOP_TOKEN_FILE_LOCATION", tokenDir+"/"+d.conf.text("", tokenItemKey))
}
