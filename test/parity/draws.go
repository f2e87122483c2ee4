package parity

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// drawsPerVersion are the generated cases of each version. Each version has its own.
const drawsPerVersion = 40

// draws returns the generated cases of a version, always the same.
func draws(version string) []Case {
	cases := make([]Case, drawsPerVersion)
	for i := range cases {
		seed := fnv.New64a()
		seed.Write([]byte(version))
		random := rand.New(rand.NewPCG(seed.Sum64(), uint64(i)))
		cases[i] = draw(fmt.Sprintf("drawn-%02d", i), random)
	}
	return cases
}

func draw(name string, random *rand.Rand) Case {
	c := Case{Name: name, Conf: properties{}}
	switch random.IntN(4) {
	case 0:
		c.Resource = pythonFile
	case 1:
		c.Class, c.Resource = piClass, noResource
	}
	if random.IntN(8) == 0 {
		c.ProxyUser = "alice"
	}
	// Few odd values, or every draw would be refused and nothing compared.
	odd := random.IntN(3) == 0
	for range 4 + random.IntN(8) {
		drawProperty(c.Conf, random, odd && random.IntN(4) == 0)
	}
	return c
}

func drawProperty(conf properties, random *rand.Rand, odd bool) {
	entry := keyTable[random.IntN(len(keyTable))]
	values := entry.valid
	if odd && len(entry.odd) > 0 {
		values = entry.odd
	}
	conf[entry.key] = values[random.IntN(len(values))]
	for key, value := range entry.with {
		if _, set := conf[key]; !set {
			conf[key] = value
		}
	}
}

// keyValues are a property and what may be drawn for it, with the other properties that it needs.
type keyValues struct {
	key        string
	valid, odd []string
	with       properties
	resource   string // the main resource, where it matters
	refused    string // the field that a refusal names, if not the key
}

var (
	booleans     = []string{"true", "false", "TRUE", " false "}
	oddBooleans  = []string{"", "yes", "1"}
	sizes        = []string{"1g", "512m", "2048M", "3gb", "1t", "1048576k", "700mb", " 2g", "900000000b"}
	oddSizes     = []string{"", "0", "1.5g", "2Gi", "-1g", "1 g", "g", "0x10m", "9999999999999g", "1e3m", "١g", "5x", "1gg", "+1g"}
	factors      = []string{"0.1", "1", "0.25", "2.5e-1", "1e-5", ".5", "3.", "0.30000000000000004", "1234567.5", "5E0", " 0.2 "}
	oddFactors   = []string{"", "0", "-1", "x", "NaN", "Infinity", "1d", "0x1p-2", "1_0", "1e400"}
	quantities   = []string{"1", "500m", "1.5", "0.1", "2k", "1e0", "3"}
	oddQuantity  = []string{"", "x", "1 ", "-1", "1.5.5", "1Gi2", "+1"}
	ports        = []string{"7100", "65535", "1", " 8080"}
	oddPorts     = []string{"", "0", "-1", "65536", "x", "1.0", "99999999999"}
	counts       = []string{"1", "2", "8", " 3 "}
	oddCounts    = []string{"", "0", "-1", "1.0", "x", "2147483648", "+4", "007"}
	texts        = []string{"a", "a b", "a=b", "é", "", "{{APP_ID}}", "${spark.x}", "x,y", "a:b", " lead", "trail "}
	labels       = []string{"a", "", "A_b.c-d", "{{APP_ID}}"}
	oddLabels    = []string{"a b", "-", "é"}
	addresses    = []string{"local:///x/a", "https://files.example/b", "local:/c", "https://files.example/d#e", "local:///f,,local:///g"}
	oddAddresses = []string{"/host/a", "file:///host/b", "c", "local:///a,d"}
)

var keyTable = []keyValues{
	{key: appNameKey, valid: []string{"x", "Daily Report", "9 to 5", "UPPER_case.Class$Inner", "a--b", "$", "ends-"}},
	{key: imageKey, valid: []string{"spark", "r.example:5000/spark:latest", "spark@sha256:" + digest, "${spark.x}"}, with: properties{"spark.x": "y:1"}},
	{key: "spark.kubernetes.container.image.pullPolicy", valid: []string{"Always", "Never", "IfNotPresent"}, odd: []string{"", "never", "Sometimes"}},
	{key: "spark.kubernetes.container.image.pullSecrets", valid: []string{"a", "a,b", " a , ,b"}},
	{key: "spark.driver.memory", valid: sizes, odd: oddSizes},
	{key: "spark.driver.memoryOverhead", valid: append([]string{"0", "5"}, sizes...), odd: oddSizes},
	{key: "spark.driver.minMemoryOverhead", valid: append([]string{"0", "5"}, sizes...), odd: oddSizes},
	{key: "spark.driver.memoryOverheadFactor", valid: factors, odd: oddFactors},
	{key: "spark.kubernetes.memoryOverheadFactor", valid: append([]string{"0"}, factors...), odd: oddFactors},
	{key: "spark.executor.memory", valid: sizes, odd: oddSizes},
	{key: "spark.driver.cores", valid: counts, odd: oddCounts},
	{key: "spark.executor.cores", valid: counts, odd: oddCounts},
	{key: "spark.executor.instances", valid: counts, odd: oddCounts},
	{key: "spark.dynamicAllocation.enabled", valid: booleans, odd: oddBooleans},
	{key: "spark.kubernetes.driver.request.cores", valid: quantities, odd: oddQuantity},
	{key: "spark.kubernetes.driver.limit.cores", valid: []string{"8", "9.5", "10k"}, odd: oddQuantity},
	{key: "spark.driver.resource.gpu.amount", valid: []string{"0", "1", "4"}, odd: oddCounts, with: properties{"spark.driver.resource.gpu.vendor": "amd.com"}},
	{key: "spark.driver.port", valid: ports, odd: oddPorts},
	{key: "spark.driver.blockManager.port", valid: []string{"7200", "65534", "2"}, odd: oddPorts},
	{key: "spark.blockManager.port", valid: []string{"7300", "65533"}, odd: oddPorts},
	{key: "spark.ui.port", valid: []string{"4100", "4"}, odd: oddPorts},
	{key: "spark.connect.grpc.binding.port", valid: []string{"15100", "5"}, odd: oddPorts},
	{key: "spark.kubernetes.driver.label.l", valid: labels, odd: oddLabels},
	{key: "spark.kubernetes.driver.label.m.example/n", valid: labels[:3], odd: oddLabels},
	{key: "spark.kubernetes.driver.annotation.a", valid: texts},
	{key: "spark.kubernetes.driver.annotation.b.example/c", valid: texts},
	{key: "spark.kubernetes.driverEnv.E", valid: texts},
	{key: "spark.kubernetes.driverEnv.F", valid: texts},
	{key: "spark.kubernetes.driver.service.label.s", valid: labels[:3], odd: oddLabels},
	{key: "spark.kubernetes.driver.service.annotation.t", valid: texts},
	{key: "spark.kubernetes.driver.service.ipFamilyPolicy", valid: []string{"SingleStack", "PreferDualStack"}, odd: []string{"", "singleStack"}},
	{key: "spark.kubernetes.driver.service.ipFamilies", valid: []string{"IPv4", "IPv6"}, odd: []string{"", "IPv5", "IPv4, IPv6"}},
	{key: "spark.kubernetes.node.selector.n", valid: labels[:3]},
	{key: "spark.kubernetes.driver.node.selector.n", valid: labels[:3]},
	{key: "spark.kubernetes.driver.scheduler.name", valid: []string{"one", "two"}, odd: []string{""}},
	{key: "spark.kubernetes.scheduler.name", valid: []string{"three"}, odd: []string{""}},
	{key: "spark.kubernetes.authenticate.driver.serviceAccountName", valid: []string{"spark", "other"}, odd: []string{""}},
	{key: "spark.kubernetes.driver.pod.name", valid: []string{"named", "named.driver"}, odd: []string{"", "Named", "a_b"}},
	{key: "spark.kubernetes.driver.secrets.one", valid: []string{"/one", "/two"}, odd: []string{"", "a:b"}},
	{key: "spark.kubernetes.driver.secretKeyRef.K", valid: []string{"s:k", "s:k.txt"}, odd: []string{"", "s", ":", "s:", ":k", "a:b:c"}},
	{key: driverVolume + "emptyDir.e.mount.path", valid: []string{"/e", "/f"}, odd: []string{"", "e", "/a:b"}},
	{key: driverVolume + "emptyDir.e.options.sizeLimit", valid: []string{"1Gi", "500M", "2048"}, odd: append([]string{"1000"}, oddQuantity...), with: properties{driverVolume + "emptyDir.e.mount.path": "/g"}},
	{key: driverVolume + "emptyDir.e.options.medium", valid: []string{"Memory", ""}, odd: []string{"Disk"}, with: properties{driverVolume + "emptyDir.e.mount.path": "/g"}},
	{key: driverVolume + "hostPath.h.options.path", valid: []string{"/h", "/h/../i"}, odd: []string{"", "h"}, with: properties{driverVolume + "hostPath.h.mount.path": "/h"}},
	{key: driverVolume + "hostPath.h.mount.readOnly", valid: booleans[:3], odd: oddBooleans, with: properties{
		driverVolume + "hostPath.h.mount.path": "/h", driverVolume + "hostPath.h.options.path": "/hh",
	}},
	{key: driverVolume + "hostPath.h.options.type", valid: []string{"Directory", "File", ""}, odd: []string{"directory"}, with: properties{
		driverVolume + "hostPath.h.mount.path": "/h", driverVolume + "hostPath.h.options.path": "/hh",
	}},
	{key: driverVolume + "nfs.n.options.server", valid: []string{"s", "10.0.0.1"}, odd: []string{""}, with: properties{
		driverVolume + "nfs.n.mount.path": "/n", driverVolume + "nfs.n.options.path": "/nn",
	}},
	{key: driverVolume + "persistentVolumeClaim.p.options.claimName", valid: []string{"OnDemand", "fixed", "a-OnDemand"}, odd: []string{"", "A"}, with: properties{
		driverVolume + "persistentVolumeClaim.p.mount.path": "/p",
	}},
	{key: driverVolume + "persistentVolumeClaim.p.options.sizeLimit", valid: []string{"1Gi", "20G"}, odd: oddQuantity, with: properties{
		driverVolume + "persistentVolumeClaim.p.mount.path": "/p", driverVolume + "persistentVolumeClaim.p.options.claimName": "OnDemand",
		driverVolume + "persistentVolumeClaim.p.options.storageClass": "fast",
	}},
	{key: driverVolume + "persistentVolumeClaim.p.label.k", valid: labels[:3], odd: oddLabels, with: properties{
		driverVolume + "persistentVolumeClaim.p.mount.path": "/p", driverVolume + "persistentVolumeClaim.p.options.claimName": "OnDemand",
		driverVolume + "persistentVolumeClaim.p.options.storageClass": "fast", driverVolume + "persistentVolumeClaim.p.options.sizeLimit": "1Gi",
	}},
	{key: "spark.kubernetes.legacy.useReadWriteOnceAccessMode", valid: booleans, odd: oddBooleans},
	{key: "spark.kubernetes.executor.volumes.emptyDir.x.mount.path", valid: []string{"/x"}, odd: []string{""}},
	{key: "spark.local.dir", valid: []string{"/a", "/a,/b", "/tmp/x y"}, odd: []string{"", ",", "/a,,/b", "/a, /b", "rel"}},
	{key: "spark.kubernetes.local.dirs.tmpfs", valid: booleans, odd: oddBooleans},
	{key: "spark.kubernetes.hadoop.configMapName", valid: []string{"hadoop"}, odd: []string{""}},
	{key: "spark.kubernetes.kerberos.krb5.configMapName", valid: []string{"krb5"}, odd: []string{""}},
	{key: "spark.pyspark.python", valid: []string{"python3", "/p"}, odd: []string{""}},
	{key: "spark.jars", valid: addresses[:3], odd: oddAddresses},
	{key: "spark.files", valid: addresses, odd: oddAddresses},
	{key: "spark.archives", valid: addresses, odd: oddAddresses},
	{key: "spark.submit.pyFiles", valid: addresses[:3], odd: oddAddresses},
	{key: "spark.kubernetes.driver.pod.excludedFeatureSteps", valid: []string{
		features + "DriverServiceFeatureStep", features + "NetworkPolicyFeatureStep", features + "LocalDirsFeatureStep, x.Y",
	}},
	{key: "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation", valid: booleans, odd: oddBooleans},
	{key: "spark.kubernetes.driver.service.publishNotReadyAddresses", valid: booleans, odd: oddBooleans},
	{key: "spark.app.id", valid: []string{"mine"}},
	{key: "spark.x", valid: texts},
	{key: "spark.y", valid: []string{"\\", "a\nb", "#c", "!d", "=e", ":f", "\tg", "漢字", "\u0001", "\u00e9"}},
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
