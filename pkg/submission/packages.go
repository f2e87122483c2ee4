package submission

import "strings"

const (
	packagesKey = "spark.jars.packages"
	excludesKey = "spark.jars.excludes"
	ivyKey      = "spark.jars.ivy"
)

// checkPackages refuses packages that Ivy could not read. The driver resolves them, after spark-submit has resolved them for
// its own class path.
func (d *driver) checkPackages() {
	for _, coordinate := range splitList(d.conf.values[packagesKey]) {
		if !hasParts(strings.ReplaceAll(coordinate, "/", ":"), 3) {
			d.conf.refuse(packagesKey, coordinate, "is no coordinate of Maven", "write <group>:<artifact>:<version>")
		}
	}
	if len(splitList(d.conf.values[packagesKey])) > 0 {
		for _, coordinate := range splitList(d.conf.values[excludesKey]) {
			if !hasParts(strings.ReplaceAll(coordinate, "/", ":"), 2) {
				d.conf.refuse(excludesKey, coordinate, "names no package", "write <group>:<artifact>")
			}
		}
	}
	if ivy := d.conf.values[ivyKey]; ivy != "" && !strings.HasPrefix(ivy, "/") {
		d.conf.refuse(ivyKey, ivy, "is no absolute path", "write one at which the driver may write, such as /tmp/.ivy2")
	}
}

// hasParts reports whether text has this number of parts between colons, none of them blank.
func hasParts(text string, number int) bool {
	parts := strings.Split(text, ":")
	for _, part := range parts {
		if trimmed(part) == "" {
			return false
		}
	}
	return len(parts) == number
}
