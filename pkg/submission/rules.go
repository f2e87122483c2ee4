package submission

import (
	"fmt"
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Rules are the differences between minor versions of Spark in what a submission creates. Patch releases do not differ.
type Rules struct {
	// Major and Minor are the Spark version of these rules.
	Major, Minor int
	// PythonVersionKey: spark.kubernetes.pyspark.pythonVersion is known, and may be 3.
	PythonVersionKey bool
	// MinMemoryOverheadKey: spark.driver.minMemoryOverhead replaces the fixed minimum of 384 MiB.
	MinMemoryOverheadKey bool
	// LabelPlaceholders: {{APP_ID}} and {{EXECUTOR_ID}} are replaced in driver labels as they always are in
	// annotations.
	LabelPlaceholders bool
	// VolumeExtras: volumes know subPathExpr, hostPath types, labels and annotations of claims, and a minimum size.
	VolumeExtras bool
	// ClaimAccessMode of claims that Spark creates, unless spark.kubernetes.legacy.useReadWriteOnceAccessMode says.
	ClaimAccessMode corev1.PersistentVolumeAccessMode
	// ExcludedSteps: spark.kubernetes.driver.pod.excludedFeatureSteps drops feature steps.
	ExcludedSteps bool
	// ImagePlaceholder: Spark itself puts its version in place of {{SPARK_VERSION}} in images.
	ImagePlaceholder bool
	// ConnectPort: the driver's container and Service have the port spark-connect.
	ConnectPort bool
	// ConnectProtocol of that port in the Service; empty means that none is given.
	ConnectProtocol string
	// NetworkPolicy: executors accept connections only from pods of their own application.
	NetworkPolicy bool
	// PodGroupJSON: a property may hold the template of Volcano's pod group.
	PodGroupJSON bool
	// BinaryUnits: sizes may be written with ki, kib, mi, mib and so on.
	BinaryUnits bool
	// NoPrivilegeEscalation: the driver's container has allowPrivilegeEscalation false unless a property says
	// otherwise.
	NoPrivilegeEscalation bool
	// ProxyUserRuns: SPARK_USER is the proxy user if there is one.
	ProxyUserRuns bool
}

// versionRules has one row for each minor version, oldest first.
var versionRules = []Rules{
	{Major: 3, Minor: 5, ClaimAccessMode: corev1.ReadWriteOnce, PythonVersionKey: true},
	{
		Major: 4, Minor: 0, ClaimAccessMode: corev1.ReadWriteOncePod, PythonVersionKey: true,
		MinMemoryOverheadKey: true, LabelPlaceholders: true, VolumeExtras: true,
	},
	{
		Major: 4, Minor: 1, ClaimAccessMode: corev1.ReadWriteOncePod,
		MinMemoryOverheadKey: true, LabelPlaceholders: true, VolumeExtras: true,
		ExcludedSteps: true, ImagePlaceholder: true, ConnectPort: true,
	},
	{
		Major: 4, Minor: 2, ClaimAccessMode: corev1.ReadWriteOncePod,
		MinMemoryOverheadKey: true, LabelPlaceholders: true, VolumeExtras: true,
		ExcludedSteps: true, ImagePlaceholder: true, ConnectPort: true, ConnectProtocol: "grpc",
		NetworkPolicy: true, PodGroupJSON: true, BinaryUnits: true,
	},
	{
		Major: 4, Minor: 3, ClaimAccessMode: corev1.ReadWriteOncePod,
		MinMemoryOverheadKey: true, LabelPlaceholders: true, VolumeExtras: true,
		ExcludedSteps: true, ImagePlaceholder: true, ConnectPort: true, ConnectProtocol: "grpc",
		NetworkPolicy: true, PodGroupJSON: true, BinaryUnits: true,
		NoPrivilegeEscalation: true, ProxyUserRuns: true,
	},
}

// versionNumber finds the major and the minor version in what users write: 4.1.0, v4_2_0, 4.0.0-preview1, spark-3.5.
var versionNumber = regexp.MustCompile(`(\d+)[._](\d+)`)

// KnownVersions returns the minor versions that the table has, oldest first, such as 4.1.
func KnownVersions() []string {
	var known []string
	for _, row := range versionRules {
		known = append(known, fmt.Sprintf("%d.%d", row.Major, row.Minor))
	}
	return known
}

// NamesVersion reports whether a text has the number of a version of Spark.
func NamesVersion(version string) bool { return versionNumber.MatchString(version) }

// RulesFor returns the rules of a Spark version, and whether the table has that minor version. A version between two rows,
// or newer than all, gets the newest row that is not newer than it. A version older than all gets the oldest row. A version
// that cannot be read gets the newest row.
func RulesFor(version string) (rules Rules, known bool) {
	found := versionNumber.FindStringSubmatch(version)
	if found == nil {
		return versionRules[len(versionRules)-1], false
	}
	// Atoi returns the largest int for a number that is too long, which counts as "newer than all".
	major, _ := strconv.Atoi(found[1])
	minor, _ := strconv.Atoi(found[2])
	rules = versionRules[0]
	for _, row := range versionRules {
		if row.Major < major || row.Major == major && row.Minor <= minor {
			rules = row
		}
	}
	return rules, rules.Major == major && rules.Minor == minor
}
