package submission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestHadoopsConfigurationIsMountedInDriverAndExecutors(t *testing.T) {
	objects := mustBuild(t, pi("spark.kubernetes.hadoop.configMapName=hadoop"))
	driver := driverOf(objects)
	wantEqual(t, "mount", driver.VolumeMounts[0], corev1.VolumeMount{Name: "hadoop-properties", MountPath: "/opt/hadoop/conf"})
	wantEqual(t, "variable", driver.Env[3], corev1.EnvVar{Name: "HADOOP_CONF_DIR", Value: "/opt/hadoop/conf"})
	wantEqual(t, "volume", objects.Driver.Spec.Volumes[0].ConfigMap.Name, "hadoop")
	wantEqual(t, "property", propertiesOf(t, objects)["spark.kubernetes.executor.hadoopConfigMapName"], "hadoop")
}

func TestKerberosConfigurationAndTokensAreMounted(t *testing.T) {
	objects := mustBuild(t, pi(
		"spark.kubernetes.kerberos.krb5.configMapName=krb5",
		"spark.kubernetes.kerberos.tokenSecret.name=tokens",
		"spark.kubernetes.kerberos.tokenSecret.itemKey=t",
	))
	driver := driverOf(objects)
	wantEqual(t, "mounts", driver.VolumeMounts[:2], []corev1.VolumeMount{
		{Name: "krb5-file", MountPath: "/etc/krb5.conf", SubPath: "krb5.conf"},
		{Name: "hadoop-secret", MountPath: "/mnt/secrets/hadoop-credentials"},
	})
	wantEqual(t, "variable", driver.Env[3], corev1.EnvVar{
		Name: "HADOOP_TOKEN_FILE_LOCATION", Value: "/mnt/secrets/hadoop-credentials/t",
	})
	wantEqual(t, "secret", objects.Driver.Spec.Volumes[1].Secret.SecretName, "tokens")
}

func TestAKeytabInTheDriverIsLeftToTheDriver(t *testing.T) {
	objects := mustBuild(t, pi("spark.kerberos.principal=p", "spark.kerberos.keytab=local:///mnt/k"))
	wantEqual(t, "volumes", len(objects.Driver.Spec.Volumes), 2)
	wantEqual(t, "property", propertiesOf(t, objects)["spark.kerberos.keytab"], "local:///mnt/k")
}

func TestKerberosThatNeedsTheSubmittingHostIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		properties []string
		fragment   string
	}{
		"a keytab of it":          {[]string{"spark.kerberos.principal=p", "spark.kerberos.keytab=/k"}, `spark.kerberos.keytab "/k"`},
		"a configuration of it":   {[]string{"spark.kubernetes.kerberos.krb5.path=/etc/krb5.conf"}, "krb5.configMapName"},
		"a keytab without name":   {[]string{"spark.kerberos.keytab=local:///k"}, "spark.kerberos.principal"},
		"a name without a keytab": {[]string{"spark.kerberos.principal=p"}, "spark.kerberos.keytab"},
		"tokens without key":      {[]string{"spark.kubernetes.kerberos.tokenSecret.name=t"}, "tokenSecret.itemKey"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, pi(row.properties...), row.fragment)
		})
	}
	plan := pi("spark.kerberos.principal=p", "spark.kerberos.keytab=local:///k")
	plan.ProxyUser = "alice"
	wantRefused(t, plan, `proxyUser "alice"`)
}

func TestAConfigMapWithoutANameIsRefused(t *testing.T) {
	wantRefused(t, pi(krb5ConfigMapKey+"="), krb5ConfigMapKey)
	wantRefused(t, pi("spark.kubernetes.hadoop.configMapName="), "spark.kubernetes.hadoop.configMapName")
}

func TestALoginByYARNsNamesIsOneByTheNewer(t *testing.T) {
	properties := propertiesOf(t, mustBuild(t, pi("spark.yarn.principal=p", "spark.yarn.keytab=local:///k")))
	wantEqual(t, "principal", properties["spark.kerberos.principal"], "p")
	wantEqual(t, "keytab", properties["spark.kerberos.keytab"], "local:///k")
	wantRefused(t, pi("spark.yarn.principal=p"), `spark.yarn.principal "p" needs spark.kerberos.keytab`)
}

func TestTokensAreCheckedEvenWhereTheirStepIsExcluded(t *testing.T) {
	wantRefused(t, version(pi(tokenSecretKey+"=t", excludedStepsKey+"="+featurePackage+"KerberosConfDriverFeatureStep"), "4.1.1"), tokenSecretKey)
	wantRefused(t, pi(tokenSecretKey+"=", tokenItemKey+"=k"), tokenSecretKey)
}
