package submission

import "testing"

// BenchmarkBuild builds a typical application: some labels, a secret, a volume, and settings that the builder only
// passes on.
func BenchmarkBuild(b *testing.B) {
	plan := pi(
		"spark.driver.memory=4g", "spark.driver.cores=2", "spark.executor.memory=8g", "spark.executor.instances=10",
		"spark.kubernetes.driver.label.team=data", "spark.kubernetes.driver.annotation.note=nightly {{APP_ID}}",
		"spark.kubernetes.driverEnv.STAGE=production", "spark.kubernetes.driver.secrets.db=/etc/db",
		"spark.kubernetes.authenticate.driver.serviceAccountName=spark",
		"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.mount.path=/data",
		"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.claimName=data",
		"spark.eventLog.enabled=true", "spark.eventLog.dir=s3a://logs/spark", "spark.sql.shuffle.partitions=400",
		"spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.shuffleTracking.enabled=true",
	)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(plan); err != nil {
			b.Fatal(err)
		}
	}
}
