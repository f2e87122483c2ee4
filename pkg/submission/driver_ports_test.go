package submission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func portNumbers(objects *Objects) (ofPod, ofService map[string]int32) {
	ofPod, ofService = map[string]int32{}, map[string]int32{}
	for _, port := range driverOf(objects).Ports {
		ofPod[port.Name] = port.ContainerPort
	}
	for _, object := range objects.Owned {
		if service, ok := object.(*corev1.Service); ok {
			for _, port := range service.Spec.Ports {
				ofService[port.Name] = port.Port
			}
		}
	}
	return ofPod, ofService
}

func TestPortsOfPodAndService(t *testing.T) {
	for name, row := range map[string]struct {
		plan                Plan
		port                string
		inPod, inService    int32
		property, wantValue string
	}{
		"the driver's":               {pi("spark.driver.port=1"), "driver-rpc-port", 1, 1, "spark.driver.port", "1"},
		"the block manager's":        {pi("spark.driver.blockManager.port=2"), "blockmanager", 2, 2, "spark.driver.blockManager.port", "2"},
		"all block managers':":       {pi("spark.blockManager.port=17079"), "blockmanager", 17079, 7079, "spark.driver.blockManager.port", "7079"},
		"the UI's":                   {pi("spark.ui.port=65535"), "spark-ui", 65535, 65535, "spark.ui.port", "65535"},
		"none for Connect up to 4.0": {version(pi(), "4.0.1"), "spark-connect", 0, 0, "", ""},
		"one for Connect from 4.1":   {version(pi(), "4.1.0"), "spark-connect", 15002, 15002, "", ""},
		"another one for Connect": {
			version(pi("spark.connect.grpc.binding.port=3"), "4.1.0"), "spark-connect", 3, 3, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			ofPod, ofService := portNumbers(objects)
			wantEqual(t, "in pod", ofPod[row.port], row.inPod)
			wantEqual(t, "in Service", ofService[row.port], row.inService)
			wantEqual(t, "property", propertiesOf(t, objects)[row.property], row.wantValue)
		})
	}
}

func TestNumbersThatAreNoPortAreRefused(t *testing.T) {
	for _, value := range []string{"0", "-1", "65536", "x", "", "99999999999"} {
		wantRefused(t, pi("spark.driver.port="+value), "spark.driver.port")
	}
}

func TestWithoutServiceADriverMayTakeAnyFreePort(t *testing.T) {
	plan := version(pi("spark.ui.port=0", "spark.kubernetes.driver.pod.excludedFeatureSteps="+driverServiceStep), "4.3.0")
	ofPod, _ := portNumbers(mustBuild(t, plan))
	wantEqual(t, "ports", ofPod, map[string]int32{"driver-rpc-port": 7078, "blockmanager": 7079, "spark-connect": 15002})
}

func TestPortsOfTheServiceDiffer(t *testing.T) {
	wantRefused(t, pi("spark.driver.port=7079"), driverPortKey, "7079")
	wantRefused(t, pi("spark.ui.port=7078"), uiPortKey, "7078")
	mustBuild(t, pi("spark.blockManager.port=7078")) // which the Service does not look at
}
