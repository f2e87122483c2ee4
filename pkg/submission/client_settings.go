package submission

import "strconv"

// checkClient refuses invalid values of spark-submit's own settings, and of settings that both spark-submit and the driver
// read. They do not change what is submitted.
func (d *driver) checkClient() {
	for _, key := range []string{
		"spark.kubernetes.trust.certificates", "spark.kubernetes.submission.waitAppCompletion", "spark.driver.userClassPathFirst",
	} {
		d.conf.boolean(false, key)
	}
	readPlain(d.conf, true, booleans, "spark.kubernetes.setSubmitTimeInDriver")
	for _, key := range []string{
		"spark.kubernetes.submission.connectionTimeout", "spark.kubernetes.submission.requestTimeout",
	} {
		read(d.conf, 0, integers, key)
	}
	read(d.conf, 0, counts, "spark.buffer.size")
	read(d.conf, 0, configMapSizes, "spark.kubernetes.configMap.maxSize")
}

var configMapSizes = format[int64]{
	parse: func(text string) (int64, bool) {
		number, err := strconv.ParseInt(text, 10, 64)
		return number, err == nil && number <= maxConfigMap
	},
	problem: "is no number of bytes that a config map can hold",
	remedy:  "write a whole number up to 1048576",
}
