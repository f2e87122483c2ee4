package parity

import (
	"bufio"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// readConfigMap replaces texts whose form is free by what they say.
func readConfigMap(data Object) {
	if text, given := data["spark.properties"].(string); given {
		data["spark.properties"] = readProperties(text)
	}
	if text, given := data["podspec-configmap-key"].(string); given {
		data["podspec-configmap-key"] = readTemplate(text)
	}
}

// readProperties returns the properties of a file in the format of Java's Properties. Its first comment, which names
// the config map, has the key "#"; the second is a date.
func readProperties(text string) Object {
	result := Object{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 0; lines.Scan(); number++ {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			if number == 0 {
				result["#"] = line
			}
			continue
		}
		key, value := splitProperty(line)
		result[unescape(key)] = unescape(value)
	}
	if submitted, _ := result["spark.app.submitTime"].(string); recent.MatchString(submitted) {
		result["spark.app.submitTime"] = "0"
	}
	return result
}

// recent are times of the last years, which no case gives.
var recent = regexp.MustCompile(`^(179|1[89]\d|[2-9]\d\d)\d{10}$`)

// splitProperty splits at the first equals sign that no backslash escapes. Spark writes no other separator.
func splitProperty(line string) (key, value string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=':
			return line[:i], line[i+1:]
		}
	}
	return line, ""
}

var escapes = map[byte]string{'t': "\t", 'n': "\n", 'r': "\r", 'f': "\f"}

func unescape(text string) string {
	var result strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			result.WriteByte(text[i])
			continue
		}
		i++
		if text[i] == 'u' && i+4 < len(text) {
			code, _ := strconv.ParseUint(text[i+1:i+5], 16, 16)
			result.WriteRune(rune(code))
			i += 4
		} else if meaning, special := escapes[text[i]]; special {
			result.WriteString(meaning)
		} else {
			result.WriteByte(text[i])
		}
	}
	return result.String()
}

// readTemplate returns a pod template as an object, with its values in the form of the API's types.
func readTemplate(text string) any {
	var pod corev1.Pod
	if err := yaml.Unmarshal([]byte(text), &pod); err != nil {
		return fmt.Sprintf("no pod: %v: %s", err, text)
	}
	canonical, err := json.Marshal(pod)
	if err != nil {
		return err.Error()
	}
	result := Object{}
	if err := json.Unmarshal(canonical, &result); err != nil {
		return err.Error()
	}
	delete(result, "status")
	return result
}

// boundaries are the variables that Spark sets at a fixed place. The variables between two of them are in the order of one of
// Spark's maps.
var boundaries = []string{
	"SPARK_APPLICATION_ID", "SPARK_DRIVER_BIND_ADDRESS", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON",
	"HADOOP_CONF_DIR", "HADOOP_TOKEN_FILE_LOCATION", "SPARK_LOCAL_DIRS", "SPARK_CONF_DIR",
}

// sortAlike sorts what Spark reads in arbitrary order.
func sortAlike(object Object) {
	if object["kind"] != "Pod" {
		return
	}
	spec := object["spec"].(Object)
	sortBy(spec["volumes"], "name")
	for _, container := range list(spec["containers"]) {
		sortBy(container["volumeMounts"], "name")
		environment, _ := container["env"].([]any)
		sortEnvironment(environment)
		sortLocalDirs(container)
	}
}

func sortBy(value any, field string) {
	entries, _ := value.([]any)
	slices.SortStableFunc(entries, func(a, b any) int { return strings.Compare(text(a, field), text(b, field)) })
}

func text(entry any, field string) string {
	result, _ := entry.(Object)[field].(string)
	return result
}

// sortEnvironment sorts the runs between boundaries. The first run is the template's, whose order is kept.
func sortEnvironment(entries []any) {
	start := slices.IndexFunc(entries, func(entry any) bool { return text(entry, "name") == "SPARK_APPLICATION_ID" })
	if start < 0 {
		return
	}
	for i := start; i < len(entries); i++ {
		if i == len(entries)-1 || slices.Contains(boundaries, text(entries[i], "name")) {
			sortBy(entries[start:i], "name")
			start = i + 1
		}
	}
}

var numberedLocalDir = regexp.MustCompile(`^spark-local-dir-\d+$`)

// sortLocalDirs sorts the scratch directories, which Spark shuffles before it numbers their volumes.
func sortLocalDirs(container Object) {
	var mounts []Object
	var paths []string
	for _, mount := range list(container["volumeMounts"]) {
		if numberedLocalDir.MatchString(text(mount, "name")) {
			mounts = append(mounts, mount)
			paths = append(paths, text(mount, "mountPath"))
		}
	}
	slices.Sort(paths)
	for i, mount := range mounts {
		mount["mountPath"] = paths[i]
	}
	for _, variable := range list(container["env"]) {
		if variable["name"] == "SPARK_LOCAL_DIRS" {
			dirs := strings.Split(text(variable, "value"), ",")
			slices.Sort(dirs)
			variable["value"] = strings.Join(dirs, ",")
		}
	}
}
