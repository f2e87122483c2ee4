{{/*
What the cluster has of other Spark operators, for the notes: webhooks, and CRDs in other Helm releases. Each with the next step. Who installs
for some namespaces only may not list webhooks.
*/}}
{{- define "firesteel.otherOperators" -}}
{{- if .Values.crds.install -}}
{{- if eq .Values.controller.rbac.scope "Cluster" -}}
{{- range $kind := list "MutatingWebhookConfiguration" "ValidatingWebhookConfiguration" -}}
{{- range $configuration := (lookup "admissionregistration.k8s.io/v1" $kind "" "").items -}}
{{- $ofKubeflow := false -}}
{{- range $configuration.webhooks -}}
{{- $ofKubeflow = or $ofKubeflow (hasSuffix ".sparkoperator.k8s.io" .name) -}}
{{- end -}}
{{- if $ofKubeflow }}

The {{ $kind }} {{ $configuration.metadata.name }} of the Kubeflow operator refuses the applications and driver Pods that
it selects when that operator is stopped. Exclude Firesteel's namespaces in its chart (spark.jobNamespaces), or delete it:
  kubectl delete {{ lower $kind }} {{ $configuration.metadata.name }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $releases := dict -}}
{{- range splitList " " (include "firesteel.crds" .) -}}
{{- $annotations := dig "metadata" "annotations" dict (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .) -}}
{{- with get $annotations "meta.helm.sh/release-name" -}}
{{- $_ := set $releases . (get $annotations "meta.helm.sh/release-namespace") -}}
{{- end -}}
{{- end -}}
{{- range $name, $namespace := $releases }}

helm uninstall {{ $name }} would delete CRDs that Firesteel needs, and with them all applications. Before you uninstall it,
upgrade it to an empty chart, which leaves them: docs/operators/moving-in.md
  helm -n {{ $namespace }} upgrade {{ $name }} ./empty
{{- end -}}
{{- end -}}
{{- end -}}
