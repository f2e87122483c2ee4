package objectdiff

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
	// anywhereDefaults are the defaults of fields that have the same meaning everywhere in a Pod.
	anywhereDefaults = Object{"protocol": "TCP", "defaultMode": 420.0}
)

// addedTolerations are the keys of the tolerations that the API server adds.
var addedTolerations = []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

// DropDefaults removes the fields of an object that have their default values.
func DropDefaults(from, defaults Object) {
	for name, value := range defaults {
		if reflect.DeepEqual(from[name], value) {
			delete(from, name)
		}
	}
}

// DropPodDefaults removes from the spec of a Pod what the API server fills in. Some defaults depend on other fields, and may also be written: the
// pull policy, requests equal to limits, host ports. Those it sets, so that two Pods with and without them are equal.
func DropPodDefaults(spec Object) {
	delete(spec, "priority") // follows from the priority class
	DropDefaults(spec, podDefaults)
	if account, set := spec["serviceAccountName"]; set {
		spec["serviceAccount"] = account
	}
	tolerations, _ := spec["tolerations"].([]any)
	spec["tolerations"] = slices.DeleteFunc(tolerations, func(entry any) bool {
		toleration, _ := entry.(Object)
		key, _ := toleration["key"].(string)
		return slices.Contains(addedTolerations, key) && toleration["tolerationSeconds"] == 300.0
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
		DropDefaults(source, Object{"type": ""})
	}
	if source, given := volume["ephemeral"].(Object); given {
		claim, _ := source["volumeClaimTemplate"].(Object)
		DropDefaults(object(claim["spec"]), Object{"volumeMode": "Filesystem"})
	}
	if source, given := volume["projected"].(Object); given {
		for _, part := range list(source["sources"]) {
			if token, given := part["serviceAccountToken"].(Object); given {
				DropDefaults(token, Object{"expirationSeconds": 3600.0})
			}
		}
	}
}

func defaultContainer(container Object) {
	DropDefaults(container, containerDefaults)
	for _, kind := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, _ := container[kind].(Object)
		DropDefaults(probe, probeDefaults)
		defaultHTTPGet(probe)
		if call, given := probe["grpc"].(Object); given {
			DropDefaults(call, Object{"service": ""})
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
	if get, given := object(handler)["httpGet"].(Object); given {
		DropDefaults(get, Object{"scheme": "HTTP"})
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

// pullPolicy returns the default pull policy of an image.
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

// dropAnywhere removes anywhereDefaults, and the version of references to fields.
func dropAnywhere(value any) {
	switch value := value.(type) {
	case Object:
		DropDefaults(value, anywhereDefaults)
		for key, entry := range value {
			if reference, given := entry.(Object); given && key == "fieldRef" {
				DropDefaults(reference, Object{"apiVersion": "v1"})
			}
			dropAnywhere(entry)
		}
	case []any:
		for _, entry := range value {
			dropAnywhere(entry)
		}
	}
}

// object returns a value as an object; an empty one if it is none.
func object(value any) Object {
	found, _ := value.(Object)
	return found
}

// list returns the entries of a list that are objects.
func list(value any) []Object {
	entries, _ := value.([]any)
	var found []Object
	for _, entry := range entries {
		if o, ok := entry.(Object); ok {
			found = append(found, o)
		}
	}
	return found
}
