package objectdiff

import (
	"fmt"
	"slices"
	"strings"
)

// userMaps are fields whose keys only users choose. A key that the plan does not have is a difference there. In other fields, it is a default of the
// API server.
var userMaps = []string{"labels", "annotations", "data", "binaryData", "nodeSelector", "selector", "matchLabels", "limits", "requests"}

// Comparable returns an object in the cluster without what the API server has added to the planned one: fields that the plan does not have, except
// in userMaps.
func Comparable(planned, existing Object) Object {
	return comparableTo(planned, existing, "").(Object)
}

// comparableTo does the same for a value. key is the field that has the value.
func comparableTo(planned, existing any, key string) any {
	switch existing := existing.(type) {
	case Object:
		wanted, ok := planned.(Object)
		if !ok {
			return existing
		}
		kept := Object{}
		for field, value := range existing {
			if child, planned := wanted[field]; planned {
				kept[field] = comparableTo(child, value, field)
			} else if slices.Contains(userMaps, key) {
				kept[field] = value
			}
		}
		return kept
	case []any:
		wanted, ok := planned.([]any)
		if !ok {
			return existing
		}
		return comparableList(wanted, existing, key)
	default:
		return existing
	}
}

func comparableList(planned, existing []any, key string) []any {
	kept := []any{}
	for i, item := range existing {
		at := slices.IndexFunc(planned, func(wanted any) bool { return identity(wanted) != "" && identity(wanted) == identity(item) })
		if at < 0 && identity(item) == "" && i < len(planned) {
			at = i
		}
		switch {
		case at >= 0:
			kept = append(kept, comparableTo(planned[at], item, key))
		case !injected(item):
			kept = append(kept, item)
		}
	}
	return kept
}

// identity returns the field that distinguishes an item of a list from the others, as field=value; empty if there is none.
func identity(item any) string {
	fields, ok := item.(Object)
	if !ok {
		return ""
	}
	for _, field := range []string{"mountPath", "name", "uid", "containerPort", "port", "key"} {
		if value, set := fields[field]; set {
			return field + "=" + fmt.Sprint(value)
		}
	}
	return ""
}

// injected reports whether an item is one that Kubernetes adds to each Pod.
func injected(item any) bool {
	fields, _ := item.(Object)
	key, _ := fields["key"].(string)
	return IsAccountToken(item) || slices.Contains(addedTolerations, key)
}

// IsAccountToken reports whether an item is the volume with the token of the service account, or a mount of that volume. The API server adds both to
// each Pod.
func IsAccountToken(item any) bool {
	fields, _ := item.(Object)
	name, _ := fields["name"].(string)
	return strings.HasPrefix(name, "kube-api-access-")
}
