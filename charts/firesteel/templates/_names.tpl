{{/* What the names of objects outside namespaces begin with. */}}
{{- define "firesteel.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of an object outside namespaces, from its name in config. Takes root, name. */}}
{{- define "firesteel.clusterName" -}}
{{- $fullname := include "firesteel.fullname" .root -}}
{{- if eq $fullname "firesteel" -}}
{{- .name -}}
{{- else -}}
{{- printf "%s-%s" $fullname (trimPrefix "firesteel-" .name) -}}
{{- end -}}
{{- end -}}

{{/* Labels of all objects, besides those in config. */}}
{{- define "firesteel.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/part-of: firesteel
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "firesteel.serviceAccount" -}}
{{- default "controller" .Values.controller.serviceAccount.name -}}
{{- end -}}

{{/* An image. Takes root, image. */}}
{{- define "firesteel.image" -}}
{{- $shared := .root.Values.image -}}
{{- $reference := .image.repository -}}
{{- with $shared.registry -}}
{{- $reference = printf "%s/%s" (trimSuffix "/" .) $reference -}}
{{- end -}}
{{- if or (contains "@" $reference) (hasPrefix "ko://" $reference) -}}
{{- $reference -}}
{{- else if .image.digest -}}
{{- printf "%s@%s" $reference .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $reference (default .root.Chart.AppVersion $shared.tag) -}}
{{- end -}}
{{- end -}}

{{/* The CRDs of the chosen APIs, by name, separated by spaces. */}}
{{- define "firesteel.crds" -}}
{{- $names := list -}}
{{- range .Values.apis -}}
{{- if eq . "spark.apache.org" -}}
{{- $names = concat $names (list "sparkapplications.spark.apache.org" "sparkclusters.spark.apache.org" "scheduledsparkapplications.firesteel.dev") -}}
{{- else if eq . "sparkoperator.k8s.io" -}}
{{- $names = concat $names (list "sparkapplications.sparkoperator.k8s.io" "scheduledsparkapplications.sparkoperator.k8s.io") -}}
{{- else -}}
{{- $names = append $names "sparkapplications.spark-operator.k8s.io" -}}
{{- end -}}
{{- end -}}
{{- join " " $names -}}
{{- end -}}

{{/* The namespaces of applications if no others are watched, as YAML. */}}
{{- define "firesteel.listedNamespaces" -}}
{{- if not (or (has "" .Values.spark.jobNamespaces) .Values.spark.jobNamespaceSelector) -}}
{{- include "firesteel.jobNamespaces" . -}}
{{- end -}}
{{- end -}}

{{/* The namespaces of applications, as YAML: without "", which stands for all. */}}
{{- define "firesteel.jobNamespaces" -}}
{{- without .Values.spark.jobNamespaces "" | uniq | toYaml -}}
{{- end -}}
