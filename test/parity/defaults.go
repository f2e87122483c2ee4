package parity

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Values that the API server gives to fields without one.
var (
	podDefaults = Object{
		"dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "preemptionPolicy": "PreemptLowerPriority",
		"schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30.0,
	}
	containerDefaults = Object{
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	}
	probeDefaults = Object{
		"timeoutSeconds": 1.0, "periodSeconds": 10.0, "successThreshold": 1.0, "failureThreshold": 3.0,
	}
	serviceDefaults = Object{
		"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "publishNotReadyAddresses": false,
	}
	// anywhereDefaults mean the same wherever in a pod they are.
	anywhereDefaults = Object{"protocol": "TCP", "defaultMode": 420.0}
)

// toleranceOfOutages are the tolerations that the API server adds.
var toleranceOfOutages = []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

func dropDefaults(object, defaults Object) {
	for name, value := range defaults {
		if reflect.DeepEqual(object[name], value) {
			delete(object, name)
		}
	}
}

func defaultPod(spec Object) {
	delete(spec, "priority") // follows from the priority class
	dropDefaults(spec, podDefaults)
	if account, set := spec["serviceAccountName"]; set {
		spec["serviceAccount"] = account
	}
	tolerations, _ := spec["tolerations"].([]any)
	spec["tolerations"] = slices.DeleteFunc(tolerations, func(entry any) bool {
		toleration := entry.(Object)
		key, _ := toleration["key"].(string)
		return slices.Contains(toleranceOfOutages, key) && toleration["tolerationSeconds"] == 300.0
	})
	for _, volume := range list(spec["volumes"]) {
		defaultVolume(volume)
	}
	for _, container := range slices.Concat(list(spec["initContainers"]), list(spec["containers"])) {
		defaultContainer(container)
		for _, port := range list(container["ports"]) {
			if _, set := port["hostPort"]; !set && spec["hostNetwork"] == true {
				port["hostPort"] = port["containerPort"]
			}
		}
	}
	dropAnywhere(spec)
}

func defaultVolume(volume Object) {
	if source, given := volume["hostPath"].(Object); given {
		dropDefaults(source, Object{"type": ""})
	}
	if source, given := volume["ephemeral"].(Object); given {
		claim, _ := source["volumeClaimTemplate"].(Object)
		dropDefaults(claim["spec"].(Object), Object{"volumeMode": "Filesystem"})
	}
	if source, given := volume["projected"].(Object); given {
		for _, part := range list(source["sources"]) {
			if token, given := part["serviceAccountToken"].(Object); given {
				dropDefaults(token, Object{"expirationSeconds": 3600.0})
			}
		}
	}
}

func defaultContainer(container Object) {
	dropDefaults(container, containerDefaults)
	for _, kind := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, _ := container[kind].(Object)
		dropDefaults(probe, probeDefaults)
		defaultHTTPGet(probe)
		if call, given := probe["grpc"].(Object); given {
			dropDefaults(call, Object{"service": ""})
		}
	}
	lifecycle, _ := container["lifecycle"].(Object)
	for _, handler := range lifecycle {
		defaultHTTPGet(handler)
	}
	if _, set := container["imagePullPolicy"]; !set {
		container["imagePullPolicy"] = pullPolicy(container["image"])
	}
	resources, _ := container["resources"].(Object)
	limits, _ := resources["limits"].(Object)
	roundUp(limits)
	roundUp(resources["requests"])
	for name, limit := range limits {
		requests, given := resources["requests"].(Object)
		if !given {
			requests = Object{}
			resources["requests"] = requests
		}
		if _, set := requests[name]; !set {
			requests[name] = limit
		}
	}
}

func defaultHTTPGet(handler any) {
	if get, given := handler.(Object)["httpGet"].(Object); given {
		dropDefaults(get, Object{"scheme": "HTTP"})
	}
}

// roundUp rounds quantities up to thousandths, as the API server does.
func roundUp(quantities any) {
	list, _ := quantities.(Object)
	for name, text := range list {
		if quantity, err := resource.ParseQuantity(fmt.Sprint(text)); err == nil && !quantity.RoundUp(resource.Milli) {
			list[name] = quantity.String()
		}
	}
}

// pullPolicy is the one of an image that says none.
func pullPolicy(image any) string {
	text, _ := image.(string)
	_, file, found := strings.Cut(text, "/")
	if !found {
		file = text
	}
	if strings.Contains(text, "@") || strings.Contains(file, ":") && !strings.HasSuffix(file, ":latest") {
		return "IfNotPresent"
	}
	return "Always"
}

// dropAnywhere drops what is a default everywhere in a pod, and the version of references to fields.
func dropAnywhere(value any) {
	switch value := value.(type) {
	case Object:
		dropDefaults(value, anywhereDefaults)
		for key, entry := range value {
			if reference, given := entry.(Object); given && key == "fieldRef" {
				dropDefaults(reference, Object{"apiVersion": "v1"})
			}
			dropAnywhere(entry)
		}
	case []any:
		for _, entry := range value {
			dropAnywhere(entry)
		}
	}
}

func defaultService(spec Object) {
	dropDefaults(spec, serviceDefaults)
	delete(spec, "clusterIPs")
	// Where both families are wanted and one is named the other follows.
	families, _ := spec["ipFamilies"].([]any)
	if policy := spec["ipFamilyPolicy"]; len(families) == 1 && (policy == "PreferDualStack" || policy == "RequireDualStack") {
		other := map[any]any{"IPv4": "IPv6", "IPv6": "IPv4"}[families[0]]
		spec["ipFamilies"] = append(families, other)
	}
	for _, port := range list(spec["ports"]) {
		dropDefaults(port, anywhereDefaults)
	}
}
