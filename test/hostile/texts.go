package hostile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// text is a text that is as long as may be.
func (d *draw) text(path string) string {
	part := pick(d, texts...)
	d.note("%s: a text of %.24q", path, part)
	if d.IntN(6) == 0 {
		return part // a short one
	}
	// Of the odd ones JSON needs six bytes for one.
	count := d.size / max(len(part), 1)
	if encoded, err := json.Marshal(part); err == nil {
		count = d.size / len(encoded)
	}
	return pick(d, "", "a", "https://", "s3://b/", "@every ", "TZ=", "g.a:a:", "local:///") + strings.Repeat(part, count) + pick(d, "", "!", "}", ")")
}

var texts = []string{
	"a", "0", "9", "9g", " ", ",", ",a", "a,", ":", ";", "/", "../", "/a", ".", "a.", "-", "=", "\n", "\\", `"`, "'", "#", "$", "$$", "%", "%41", "{", "}", "[", "(",
	"a=b,", "a: &a [*a]\n", "- ", "? ", "{a: ", "((((a+)+)+)+)+", "(a|a)*", "a{1000}", "[[:alpha:]]", "é", "😀", "e\u0301", "\u202e", "\u00a0", "\u2028", "\ufeff",
	"\ufffd", "\u0000", "\x7f", "İ", "ﬃ", "１", "٣", "${", "${a}", "${spark.a}", "${env:A}", "$(A)", "$(v1)", "{{", "{{SPARK_VERSION}}", "{{APP_ID}}", "{{EXECUTOR_ID}}",
	"{{$appName}}", "OnDemand", "* ", "*/1,", "0-59/1,", "1e9", "e9", "1e999999999 ", "0x", "1_0", "NaN", "-Da=b ", "https://a/b,", "local:///a.jar,", "a:b:c,",
	"org.apache.spark.deploy.k8s.features.VolcanoFeatureStep,", "\\u0000", "<a>", "&amp;", "A", "==", "spark-local-dir-", "SPARK_",
	"/token:", "=token:", `password=\\\\`, "/basic/basic", "://", "://:a", "&sig=a", "secret: a ", "Bearer 'a", "jdbc:oracle:", `"://\"`,
}

// number is one that no field is made for.
func (d *draw) number(path string) any {
	text := pick(d, "0", "-1", "2147483647", "2147483648", "-2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"1e300", "1e-300", "1.5", "99999999999999999999", "0.1")
	d.note("%s: the number %s", path, text)
	return json.Number(text)
}

// quantity is one that takes its time.
func (d *draw) quantity(path string) any {
	text := pick(d, quantities...)
	d.note("%s: the quantity %.24q", path, text)
	if text == "long" {
		return pick(d, "1", "0.", "0", "1e", "1e-") + strings.Repeat(pick(d, "9", "0", "1"), d.size)
	}
	return text
}

var quantities = []string{
	"1e3294967296", "1e4294967297", "1e999999999", "1E+2147483647", "1e-2147483648", "1e-99999", "1e100", "1e-100", "1e99", "1e-99", " 1e999999999 ", "long",
	"99999999999999999999999999999999999999999999999999e99", "1000000000000000000000e999999999", "-1e999999999", "9E", "999999999999999999999Ei", "１e9",
}

// raw is JSON that may be anything.
func (d *draw) raw(path string) any {
	if d.IntN(3) == 0 {
		return map[string]any{"a": d.text(path)}
	}
	// API servers take no more than 10,000 levels.
	depth := pick(d, 100, 1000, 9_900)
	open, end := pick(d, "[", `{"a":`), ""
	if end = "]"; open != "[" {
		end = "}"
	}
	d.note("%s: %d levels of %s", path, depth, open)
	return json.RawMessage(`{"spec":` + strings.Repeat(open, depth) + "1" + strings.Repeat(end, depth) + "}")
}

// properties are many of some kinds of Spark properties.
func (d *draw) properties(t reflect.Type) func() any {
	return func() any {
		forms := make([]string, 1+d.IntN(5))
		length := 0
		for i := range forms {
			forms[i] = pick(d, propertyForms...)
			length += len(forms[i]) + 18
		}
		count := d.size / length
		d.note("sparkConf: %d of %q", count, forms)
		conf := map[string]any{}
		for i := range count {
			for _, form := range forms {
				key, value, _ := strings.Cut(form, "=")
				conf[strings.ReplaceAll(key, "#", fmt.Sprint(i))] = strings.ReplaceAll(value, "#", fmt.Sprint(i))
			}
		}
		return map[string]any{d.confField(t): conf}
	}
}

func (d *draw) confField(t reflect.Type) string {
	if _, ok := t.FieldByName("HadoopConf"); ok && d.IntN(4) == 0 {
		return "hadoopConf"
	}
	return "sparkConf"
}

var propertyForms = []string{
	"spark.kubernetes.driver.volumes.emptyDir.v#.mount.path=/v#", "spark.kubernetes.driver.volumes.emptyDir.v#.options.sizeLimit=1e-99",
	"spark.kubernetes.driver.volumes.persistentVolumeClaim.v#.mount.path=/v#", "spark.kubernetes.driver.volumes.persistentVolumeClaim.v#.options.claimName=OnDemand",
	"spark.kubernetes.driver.volumes.persistentVolumeClaim.v#.options.storageClass=s", "spark.kubernetes.driver.volumes.persistentVolumeClaim.v#.options.sizeLimit=1Gi",
	"spark.kubernetes.driver.volumes.persistentVolumeClaim.v#.label.l#=a", "spark.kubernetes.driver.volumes.persistentVolumeClaim.v.label.l#=a",
	"spark.kubernetes.executor.volumes.hostPath.v#.mount.path=/v", "spark.kubernetes.executor.volumes.hostPath.v#.options.path=/../#", "spark.kubernetes.driver.volumes.x#.v#.y=z",
	"spark.kubernetes.driver.label.l#=a", "spark.kubernetes.driver.label.l#=a b", "spark.kubernetes.executor.label.l#=a", "spark.kubernetes.driver.annotation.a#={{APP_ID}}",
	"spark.kubernetes.driverEnv.V#=$(V1)", "spark.executorEnv.V#=${spark.executorEnv.V1}", "spark.kubernetes.driver.secrets.s#=/s#", "spark.kubernetes.driver.secretKeyRef.S#=s:k",
	"spark.kubernetes.driver.secretKeyRef.S#=none", "spark.kubernetes.node.selector.n#=a", "spark.kubernetes.driver.service.label.l#=a",
	"spark.kubernetes.driver.service.annotation.a#=b", "spark.driver.resource.g#.amount=1", "spark.driver.resource.g#.vendor=a.com", "spark.redaction.regex=(?:a*b?){100}Q",
	"spark.redaction.regex=(?:a*b?){400}Q", "spark.x#=${spark.y#}", "spark.y#=${spark.x#}",
	"x#=y", "spark.kubernetes.x#.container.image={{SPARK_VERSION}}", "spark.kubernetes.authenticate.driver.x#=y", "spark.hadoop.x#=y", "spark.#=#", "spark.kubernetes.executor.ui.x#=y",
}

// expansions are properties that refer to each other.
func (d *draw) expansions() func() any {
	return func() any {
		keys := []string{
			"spark.kubernetes.container.image", "spark.kubernetes.driver.container.image", "spark.driver.memory", "spark.executor.memory", "spark.driver.cores",
			"spark.kubernetes.driver.limit.cores", "spark.kubernetes.driver.request.cores", "spark.ui.port", "spark.driver.port", "spark.kubernetes.driver.pod.featureSteps",
			"spark.kubernetes.driver.pod.excludedFeatureSteps", "spark.kubernetes.hadoop.configMapName", "spark.kubernetes.scheduler.name", "spark.executor.instances",
			"spark.dynamicAllocation.enabled", "spark.kubernetes.container.image.pullSecrets", "spark.kubernetes.driver.pod.name", "spark.master.ui.port", "spark.jars.packages",
		}
		times, length := pick(d, 1, 2, 10, 100), 1+d.IntN(60)
		conf := map[string]any{}
		for _, key := range keys {
			if d.IntN(2) == 0 {
				conf[key] = strings.Repeat("${spark.x0}", times)
			}
		}
		for i := range length {
			conf[fmt.Sprintf("spark.x%d", i)] = strings.Repeat(fmt.Sprintf("${spark.x%d}", i+1), times)
		}
		conf[fmt.Sprintf("spark.x%d", length)] = d.text("spec.sparkConf.spark.x")
		d.note("%d times over %d", times, length)
		return map[string]any{"sparkConf": conf}
	}
}

// schedule is a time table that is hard to read.
func (d *draw) schedule() any {
	field := pick(d, "schedule", "schedule", "timeZone")
	if d.IntN(2) == 0 {
		return map[string]any{field: d.text("spec." + field)}
	}
	text := pick(d, "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 29 2 1", "* * * * *", "*/0 * * * *", "0-59/99999999999 * * * *", "@every 1ns", "@every 9999999h", "@every 99999999999999999h",
		"@every 0.0000000000000001h", "TZ=Europe/Berlin * * * * *", "TZ=../../../etc/passwd * * * * *", "CRON_TZ=TZ=UTC * * * * *", "TZ=America/Nuuk 30 2 29 2 *", "99 99 99 99 99",
		"0 0 1 1 ?", "H H * * *", "@reboot", strings.Repeat("0,", d.size/2)+"0 * * * *", strings.Repeat("0-59/1,", d.size/8)+"0 * * * *", strings.Repeat("* ", d.size/2))
	d.note("spec.schedule: %.40q", text)
	return map[string]any{"schedule": text}
}
