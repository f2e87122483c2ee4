{{/*
The data of a ConfigMap as YAML: what config has, what follows from other values, and settings. Takes root, name, data.
*/}}
{{- define "firesteel.settings" -}}
{{- $values := .root.Values -}}
{{- $derived := dict -}}
{{- if and (eq .name "config-scope") (not (has "" $values.spark.jobNamespaces)) -}}
{{- with $values.spark.jobNamespaces -}}
{{- $_ := set $derived "watched-namespaces" (join ", " .) -}}
{{- end -}}
{{- end -}}
{{- if eq .name "config-scope" -}}
{{- with $values.spark.jobNamespaceSelector -}}
{{- $_ := set $derived "namespace-selector" . -}}
{{- end -}}
{{- end -}}
{{- if and (eq .name "config-scope") (eq $values.controller.rbac.scope "Namespaces") -}}
{{- $_ := set $derived "access" "namespaces" -}}
{{- end -}}
{{- if and (eq .name "config-handlers") $values.eventing.enable -}}
{{- $derived = get (.root.Files.Get "files/external.yaml" | fromYaml) "data" -}}
{{- end -}}
{{- if and (eq .name "config-handlers") $values.eventing.enable $values.controller.archive -}}
{{- $_ := set $derived "archive" "external" -}}
{{- end -}}
{{- if and (eq .name "config-handlers") $values.workloadNamespaces.enable -}}
{{- $_ := set $derived "namespace" (ternary "external" "in-process" $values.eventing.enable) -}}
{{- end -}}
{{- if and (eq .name "config-console") $values.console.enable $values.console.impersonationGroups -}}
{{- $_ := set $derived "impersonation-groups" (join ", " $values.console.impersonationGroups) -}}
{{- end -}}
{{- if and (eq .name "config-archive") $values.archiveService.enable -}}
{{- $_ := set $derived "event-logs-image" (include "firesteel.image" (dict "root" .root "image" $values.archiveService.image)) -}}
{{- end -}}
{{- if eq .name "config-namespaces" -}}
{{- $role := include "firesteel.clusterName" (dict "root" .root "name" "spark-driver") -}}
{{- if ne $role "spark-driver" -}}
{{- $_ := set $derived "driver-role" $role -}}
{{- end -}}
{{- with $values.spark.serviceAccount.name -}}
{{- $_ := set $derived "service-accounts" . -}}
{{- end -}}
{{- end -}}
{{- $own := dict -}}
{{- range $key, $value := (get $values.settings .name | default dict) -}}
{{- if kindIs "invalid" $value -}}
{{- else if or (kindIs "map" $value) (kindIs "slice" $value) -}}
{{- $_ := set $own $key (toYaml $value) -}}
{{- else if and (kindIs "float64" $value) (eq $value (floor $value)) -}}
{{- $_ := set $own $key (toString (int64 $value)) -}}
{{- else -}}
{{- $_ := set $own $key (toString $value) -}}
{{- end -}}
{{- end -}}
{{- /* Without a line break at the end, the last value would lose its own. */ -}}
{{- mustMergeOverwrite (dict) (.data | default dict) $derived $own | toYaml | printf "%s\n" -}}

{{- end -}}

{{/* The data of a ConfigMap in files/core.yaml, with all settings. Takes root, name. */}}
{{- define "firesteel.effective" -}}
{{- $object := include "firesteel.inCore" (dict "root" .root "kind" "ConfigMap" "name" .name) | fromYaml -}}
{{- include "firesteel.settings" (dict "root" .root "name" .name "data" (omit $object.data "_example")) -}}
{{- end -}}

{{/* An object of files/core.yaml. Takes root, kind, name. */}}
{{- define "firesteel.inCore" -}}
{{- $kind := .kind -}}
{{- $name := .name -}}
{{- range regexSplit "(?m)^---$" (.root.Files.Get "files/core.yaml") -1 -}}
{{- $object := fromYaml . -}}
{{- if and (eq (get $object "kind") $kind) (eq (dig "metadata" "name" "" $object) $name) -}}
{{- toYaml $object -}}
{{- end -}}
{{- end -}}
{{- end -}}
