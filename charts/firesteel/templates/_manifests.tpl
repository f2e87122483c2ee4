{{/*
The manifests of config, which files holds as they are, with the values in them. So what is added to config is in the chart, too.
Takes root, file, and jobNamespace for the accounts of drivers.
*/}}
{{- define "firesteel.manifests" -}}
{{- $root := .root -}}
{{- $jobNamespace := get . "jobNamespace" -}}
{{- range regexSplit "(?m)^---$" ($root.Files.Get .file) -1 -}}
{{- /* JSON quotes every string: a namespace may be named 2024 or no. */ -}}
{{- $text := fromYaml . | toJson | replace "firesteel-system" $root.Release.Namespace -}}
{{- with $jobNamespace -}}
{{- $text = replace `"namespace":"default"` (printf `"namespace":%q` .) $text -}}
{{- end -}}
{{- $object := fromJson $text -}}
{{- if and $object (not (include "firesteel.omits" (dict "root" $root "object" $object))) -}}
{{- include "firesteel.edit" (dict "root" $root "object" $object) -}}
{{- if has $object.kind (list "Roles" "RoleBindings") -}}
{{- range include "firesteel.jobNamespaces" $root | fromYamlArray -}}
{{- $copy := deepCopy $object -}}
{{- $_ := set $copy "kind" (trimSuffix "s" $object.kind) -}}
{{- $_ := set $copy.metadata "namespace" . }}
---
{{ toYaml $copy }}
{{- end -}}
{{- else }}
---
{{ toYaml $object }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Not empty if the values leave an object out. Takes root, object. */}}
{{- define "firesteel.omits" -}}
{{- $values := .root.Values -}}
{{- $kind := .object.kind -}}
{{- $name := .object.metadata.name -}}
{{- $rbac := has $kind (list "Role" "RoleBinding" "ClusterRole" "ClusterRoleBinding") -}}
{{- $ofDrivers := hasPrefix "spark" $name -}}
{{- if eq $kind "Namespace" -}}Helm creates it: --create-namespace
{{- else if and $rbac $ofDrivers (not $values.spark.rbac.create) -}}spark.rbac.create
{{- else if and $rbac (not $ofDrivers) (not (contains "-handler-" $name)) (not (contains "webhook" $name)) (not (contains "console" $name)) (not (contains "archive-service" $name)) (not $values.controller.rbac.create) -}}controller.rbac.create
{{- else if and (eq $kind "ServiceAccount") $ofDrivers (not $values.spark.serviceAccount.create) -}}spark.serviceAccount.create
{{- else if and (eq $kind "ServiceAccount") (eq $name "spark-operator-spark") $values.spark.serviceAccount.name -}}spark.serviceAccount.name
{{- else if and (eq $kind "ServiceAccount") (eq $name "controller") (not $values.controller.serviceAccount.create) -}}controller.serviceAccount.create
{{- else if and (eq $kind "PodDisruptionBudget") (eq $name "controller") (not $values.controller.podDisruptionBudget.enable) -}}controller.podDisruptionBudget.enable
{{- else if and (eq $kind "NetworkPolicy") (not $values.networkPolicy.enable) -}}networkPolicy.enable
{{- else if and (eq $name "firesteel-webhook-quota") (not (include "firesteel.validatesQuota" .root)) -}}settings.config-admission.quota
{{- else if and (eq $kind "ValidatingWebhookConfiguration") (not $values.webhook.validation.enable) -}}webhook.validation.enable
{{- else if and (eq $kind "Service") (eq $name "controller-metrics") (not $values.prometheus.service.create) -}}prometheus.service.create
{{- else if and (eq $kind "Service") (eq $name "controller-metrics") (not (include "firesteel.servesMetrics" .root)) -}}settings.config-observability.metrics-protocol
{{- end -}}
{{- end -}}

{{/* Writes the values into an object. Takes root, object. */}}
{{- define "firesteel.edit" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $object := .object -}}
{{- $kind := $object.kind -}}
{{- $name := $object.metadata.name -}}
{{- $annotations := dict -}}
{{- $_ := set $object.metadata "labels" (merge (dict) $object.metadata.labels (include "firesteel.labels" $root | fromYaml)) -}}
{{- if has $kind (list "ClusterRole" "ClusterRoleBinding" "MutatingWebhookConfiguration" "ValidatingWebhookConfiguration" "ValidatingAdmissionPolicy" "ValidatingAdmissionPolicyBinding") -}}
{{- $_ := set $object.metadata "name" (include "firesteel.clusterName" (dict "root" $root "name" $name)) -}}
{{- end -}}
{{- if eq $name "firesteel-handler-namespace" -}}
{{- range $object.rules -}}
{{- if has "clusterroles" .resources -}}
{{- $_ := set . "resourceNames" (list (include "firesteel.clusterName" (dict "root" $root "name" "spark-driver"))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq $kind "ValidatingAdmissionPolicyBinding" -}}
{{- $_ := set $object.spec "policyName" (include "firesteel.clusterName" (dict "root" $root "name" $object.spec.policyName)) -}}
{{- if $values.admission.namespaceSelector -}}
{{- $_ := set $object.spec "matchResources" (dict "namespaceSelector" $values.admission.namespaceSelector) -}}
{{- else -}}
{{- with include "firesteel.listedNamespaces" $root | fromYamlArray -}}
{{- $listed := dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" . -}}
{{- $_ := set $object.spec "matchResources" (dict "namespaceSelector" (dict "matchExpressions" (list $listed))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if has $kind (list "Role" "RoleBinding" "ClusterRole" "ClusterRoleBinding") -}}
{{- $annotations = ternary $values.spark.rbac.annotations $values.controller.rbac.annotations (hasPrefix "spark" $name) -}}
{{- end -}}
{{- if has $kind (list "RoleBinding" "ClusterRoleBinding") -}}
{{- if eq $object.roleRef.kind "ClusterRole" -}}
{{- $_ := set $object.roleRef "name" (include "firesteel.clusterName" (dict "root" $root "name" $object.roleRef.name)) -}}
{{- end -}}
{{- range $object.subjects -}}
{{- if and (eq $name "firesteel-handler-namespace") $values.eventing.enable -}}
{{- $_ := set . "name" "handler-namespace" -}}
{{- else if eq .name "controller" -}}
{{- $_ := set . "name" (include "firesteel.serviceAccount" $root) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $name "spark-driver-accounts") $values.spark.serviceAccount.name -}}
{{- $_ := set $object "subjects" (list (merge (dict "name" $values.spark.serviceAccount.name) (first $object.subjects))) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $values.controller.rbac.scope "Namespaces") (not (hasPrefix "firesteel-webhook" $name)) (not (hasPrefix "firesteel-archive-service" $name)) (or (eq $name "firesteel-console-watch") (not (hasPrefix "firesteel-console" $name))) -}}
{{- include "firesteel.editScope" . -}}
{{- end -}}
{{- if hasSuffix "WebhookConfiguration" $kind -}}
{{- include "firesteel.editWebhooks" . -}}
{{- else if and (eq $kind "ClusterRole") (eq $name "firesteel-webhook") -}}
{{- range $object.rules -}}
{{- if has "admissionregistration.k8s.io" .apiGroups -}}
{{- $_ := set . "resourceNames" (list (include "firesteel.clusterName" (dict "root" $root "name" (first .resourceNames)))) -}}
{{- end -}}
{{- end -}}
{{- else if and (eq $kind "ClusterRole") (eq $name "firesteel-console-impersonation") -}}
{{- range $object.rules -}}
{{- if has "groups" .resources -}}
{{- $_ := set . "resourceNames" $values.console.impersonationGroups -}}
{{- end -}}
{{- end -}}
{{- else if eq $kind "ServiceAccount" -}}
{{- if eq $name "controller" -}}
{{- $annotations = $values.controller.serviceAccount.annotations -}}
{{- $_ := set $object.metadata "name" (include "firesteel.serviceAccount" $root) -}}
{{- else if hasPrefix "spark" $name -}}
{{- $annotations = $values.spark.serviceAccount.annotations -}}
{{- $_ := set $object.metadata "name" (default $name $values.spark.serviceAccount.name) -}}
{{- else if eq $name "history" -}}
{{- $annotations = $values.history.serviceAccountAnnotations -}}
{{- else if eq $name "console" -}}
{{- $annotations = $values.console.serviceAccountAnnotations -}}
{{- else if eq $name "archive" -}}
{{- $annotations = $values.archiveService.serviceAccountAnnotations -}}
{{- else if eq $name "handler-archive" -}}
{{- $annotations = merge (dict) ($values.handlers.archive.serviceAccountAnnotations | default dict) ($values.handlers.serviceAccountAnnotations | default dict) -}}
{{- else if ne $name "webhook" -}}
{{- $annotations = $values.handlers.serviceAccountAnnotations -}}
{{- end -}}
{{- else if eq $kind "ConfigMap" -}}
{{- $_ := set $object "data" (include "firesteel.settings" (dict "root" $root "name" $name "data" $object.data) | fromYaml) -}}
{{- if eq $name "config-broker-channel" -}}
{{- $_ := set $object.data "channel-template-spec" $values.eventing.broker.channelTemplateSpec -}}
{{- else if hasPrefix "firesteel-dashboard-" $name -}}
{{- $_ := set $object.metadata "labels" (merge (dict) $values.grafana.dashboards.labels $object.metadata.labels) -}}
{{- $annotations = $values.grafana.dashboards.annotations -}}
{{- end -}}
{{- else if eq $kind "PrometheusRule" -}}
{{- $_ := set $object.metadata "labels" (merge (dict) $values.prometheus.rules.labels $object.metadata.labels) -}}
{{- else if eq $kind "Deployment" -}}
{{- include "firesteel.editDeployment" . -}}
{{- else if and (eq $kind "PodDisruptionBudget") (eq $name "controller") -}}
{{- $available := get $values.controller.podDisruptionBudget "minAvailable" -}}
{{- if not (has $available (list nil "")) -}}
{{- $_ := unset $object.spec "maxUnavailable" -}}
{{- $_ := set $object.spec "minAvailable" $available -}}
{{- end -}}
{{- else if and (eq $kind "NetworkPolicy") (has $name (list "controller-metrics" "webhook-metrics" "console-metrics" "archive-metrics")) -}}
{{- with $values.networkPolicy.metricsIngress -}}
{{- $_ := set (index $object.spec.ingress 0) "from" . -}}
{{- end -}}
{{- else if and (eq $kind "NetworkPolicy") (eq $name "events") -}}
{{- with $values.networkPolicy.eventsIngress -}}
{{- $_ := set (index $object.spec.ingress 0) "from" . -}}
{{- end -}}
{{- else if and (eq $kind "Service") (eq $name "controller-metrics") -}}
{{- $_ := set $object.metadata "annotations" $values.prometheus.service.annotations -}}
{{- else if eq $kind "SinkBinding" -}}
{{- with $values.controller.sink.extensions -}}
{{- $_ := set $object.spec "ceOverrides" (dict "extensions" .) -}}
{{- end -}}
{{- else if eq $kind "Broker" -}}
{{- $_ := set $object.metadata.annotations "eventing.knative.dev/broker.class" $values.eventing.broker.class -}}
{{- if ne $values.eventing.broker.class "MTChannelBasedBroker" -}}
{{- $_ := unset $object.spec "config" -}}
{{- end -}}
{{- end -}}
{{- if $annotations -}}
{{- $_ := set $object.metadata "annotations" (merge (dict) ($object.metadata.annotations | default dict) $annotations) -}}
{{- end -}}
{{- end -}}

{{/*
Makes of a ClusterRole or its binding what is created in each namespace, as Roles and RoleBindings. They have other names than with the scope
Cluster: the role of a binding cannot be changed, and the controller's own namespace may be one of them. Takes root, object.
*/}}
{{- define "firesteel.editScope" -}}
{{- $object := .object -}}
{{- $kind := $object.kind -}}
{{- if eq $kind "ClusterRole" -}}
{{- /* A Role lets the archive read the uid of its own namespace. */ -}}
{{- $ofArchive := hasSuffix "archive" $object.metadata.name -}}
{{- $rules := list -}}
{{- range $object.rules -}}
{{- if not (or (has "customresourcedefinitions" .resources) (and (has "namespaces" .resources) (not $ofArchive)) (has "priorityclasses" .resources) (has "runtimeclasses" .resources)) -}}
{{- $rules = append $rules . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $object "rules" $rules -}}
{{- $_ := set $object "kind" "Roles" -}}
{{- $_ := set $object.metadata "name" (printf "%s-namespaced" $object.metadata.name) -}}
{{- else if and (has $kind (list "ClusterRoleBinding" "RoleBinding")) (eq (dig "roleRef" "kind" "" $object) "ClusterRole") -}}
{{- if eq $kind "ClusterRoleBinding" -}}
{{- $_ := set $object "kind" "RoleBindings" -}}
{{- end -}}
{{- $_ := set $object.roleRef "kind" "Role" -}}
{{- $_ := set $object.roleRef "name" (printf "%s-namespaced" $object.roleRef.name) -}}
{{- $_ := set $object.metadata "name" (printf "%s-namespaced" $object.metadata.name) -}}
{{- end -}}
{{- end -}}

{{/*
Has the API server ask webhooks about listed namespaces only, but for the settings of the installation. Writes the values of the validation.
Takes root, object.
*/}}
{{- define "firesteel.editWebhooks" -}}
{{- $values := .root.Values -}}
{{- $listed := include "firesteel.listedNamespaces" .root | fromYamlArray -}}
{{- range $webhook := .object.webhooks -}}
{{- if eq .name "manifests.firesteel.dev" -}}
{{- $_ := set . "failurePolicy" $values.webhook.validation.failurePolicy -}}
{{- with $values.webhook.validation.namespaceSelector -}}
{{- $_ := set $webhook "namespaceSelector" . -}}
{{- end -}}
{{- end -}}
{{- if and $listed (ne .name "settings.firesteel.dev") -}}
{{- $selector := .namespaceSelector | default dict -}}
{{- $expressions := append ($selector.matchExpressions | default list) (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" $listed) -}}
{{- $_ := set . "namespaceSelector" (merge (dict "matchExpressions" $expressions) $selector) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Writes the values into a Deployment. Takes root, object. */}}
{{- define "firesteel.editDeployment" -}}
{{- $root := .root -}}
{{- $object := .object -}}
{{- $name := $object.metadata.name -}}
{{- $component := get (dict "controller" $root.Values.controller "dead-letter" $root.Values.deadLetter "webhook" $root.Values.webhook "console" $root.Values.console "archive" $root.Values.archiveService "history" $root.Values.history) $name | default $root.Values.handlers -}}
{{- if eq $name "handler-archive" -}}
{{- $own := $root.Values.handlers.archive -}}
{{- $component = merge (deepCopy (omit $own "image")) (omit $component "image") (dict "image" $own.image) -}}
{{- end -}}
{{- $pod := $object.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $image := ternary $root.Values.image (get $component "image") (eq $name "controller") -}}
{{- $_ := set $container "image" (include "firesteel.image" (dict "root" $root "image" $image)) -}}
{{- with $root.Values.image.pullPolicy -}}
{{- $_ := set $container "imagePullPolicy" . -}}
{{- end -}}
{{- with $root.Values.image.pullSecrets -}}
{{- $_ := set $pod "imagePullSecrets" . -}}
{{- end -}}
{{- if hasKey $component "replicas" -}}
{{- $_ := set $object.spec "replicas" $component.replicas -}}
{{- end -}}
{{- if and (hasKey $component "revisionHistoryLimit") (not (kindIs "invalid" $component.revisionHistoryLimit)) -}}
{{- $_ := set $object.spec "revisionHistoryLimit" $component.revisionHistoryLimit -}}
{{- end -}}
{{- with get $component "deploymentAnnotations" -}}
{{- $_ := set $object.metadata "annotations" . -}}
{{- end -}}
{{- $metadata := $object.spec.template.metadata -}}
{{- with merge (dict) ($component.annotations | default dict) (include "firesteel.settingsChecksum" (dict "root" $root "name" $name) | fromYaml) -}}
{{- $_ := set $metadata "annotations" . -}}
{{- end -}}
{{- $_ := set $metadata "labels" (merge (dict) $metadata.labels ($component.labels | default dict) ($root.Values.commonLabels | default dict)) -}}
{{- range $field := list "nodeSelector" "affinity" "tolerations" "priorityClassName" -}}
{{- with get $component $field -}}
{{- $_ := set $pod $field . -}}
{{- end -}}
{{- end -}}
{{- with get $component "volumes" -}}
{{- $_ := set $pod "volumes" (concat (get $pod "volumes" | default list) .) -}}
{{- end -}}
{{- range $field := list "env" "envFrom" "volumeMounts" -}}
{{- with get $component $field -}}
{{- $_ := set $container $field (concat (get $container $field | default list) .) -}}
{{- end -}}
{{- end -}}
{{- with get $component "topologySpreadConstraints" -}}
{{- $constraints := list -}}
{{- range . -}}
{{- $constraints = append $constraints (merge (dict) . (dict "labelSelector" $object.spec.selector)) -}}
{{- end -}}
{{- $_ := set $pod "topologySpreadConstraints" $constraints -}}
{{- end -}}
{{- $_ := set $container "resources" $component.resources -}}
{{- $port := include "firesteel.metricsPort" $root -}}
{{- range $container.ports -}}
{{- if eq .name "metrics" -}}
{{- $_ := set . "containerPort" (int $port) -}}
{{- end -}}
{{- end -}}
{{- if eq $name "webhook" -}}
{{- range $container.env -}}
{{- if has .name (list "PODS_WEBHOOK_CONFIGURATION" "VALIDATION_WEBHOOK_CONFIGURATION") -}}
{{- $_ := set . "value" (include "firesteel.clusterName" (dict "root" $root "name" .value)) -}}
{{- end -}}
{{- end -}}
{{- else if eq $name "history" -}}
{{- $server := index $pod.containers 1 -}}
{{- $_ := set $server "image" $component.server.image -}}
{{- $env := $component.server.env | default list -}}
{{- $names := list -}}
{{- range $env -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range $server.env -}}
{{- if not (has .name $names) -}}
{{- $env = append $env . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $server "env" $env -}}
{{- $_ := set $server "resources" $component.server.resources -}}
{{- else if eq $name "controller" -}}
{{- $_ := set $pod "serviceAccountName" (include "firesteel.serviceAccount" $root) -}}
{{- $_ := set $pod "securityContext" $component.podSecurityContext -}}
{{- $_ := set $container "securityContext" $component.securityContext -}}
{{- if and (hasKey $component "hostUsers") (not (kindIs "invalid" $component.hostUsers)) -}}
{{- $_ := set $pod "hostUsers" $component.hostUsers -}}
{{- end -}}
{{- with $component.sidecars -}}
{{- $_ := set $pod "containers" (concat $pod.containers .) -}}
{{- end -}}
{{- if not $root.Values.eventing.enable -}}
{{- include "firesteel.editSink" (dict "sink" $component.sink "pod" $pod "container" $container) -}}
{{- end -}}
{{- else if and $root.Values.eventing.oidc (ne $name "dead-letter") -}}
{{- range $container.env -}}
{{- if eq .name "OIDC_AUDIENCE" -}}
{{- $_ := set . "value" (printf "firesteel-%s" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
An annotation of Pods that changes with the settings which they read at their start only: a change replaces them. Takes root, and name of the
Deployment.
*/}}
{{- define "firesteel.settingsChecksum" -}}
{{- $settings := .root.Values.settings -}}
{{- $read := dict -}}
{{- range $name := get (dict "controller" (list "config-leader-election" "config-observability") "webhook" (list "config-observability") "console" (list "config-observability") "archive" (list "config-observability")) .name | default list -}}
{{- with get $settings $name -}}
{{- $_ := set $read $name . -}}
{{- end -}}
{{- end -}}
{{- with $read -}}
checksum/settings: {{ toJson . | sha256sum }}
{{- end -}}
{{- end -}}

{{/* Writes the sink into the controller's Pod, as a SinkBinding does. Takes sink, pod, container. */}}
{{- define "firesteel.editSink" -}}
{{- $variables := list -}}
{{- with .sink.uri -}}
{{- $variables = append $variables (dict "name" "K_SINK" "value" .) -}}
{{- end -}}
{{- with .sink.caCerts -}}
{{- $variables = append $variables (dict "name" "K_CA_CERTS" "value" .) -}}
{{- end -}}
{{- with .sink.extensions -}}
{{- $variables = append $variables (dict "name" "K_CE_OVERRIDES" "value" (dict "extensions" . | toJson)) -}}
{{- end -}}
{{- with .sink.audience -}}
{{- $variables = append $variables (dict "name" "K_AUDIENCE" "value" .) -}}
{{- end -}}
{{- if $variables -}}
{{- $_ := set .container "env" (concat .container.env $variables) -}}
{{- end -}}
{{- with .sink.audience -}}
{{- $token := dict "path" "token" "audience" . "expirationSeconds" 3600 -}}
{{- $volume := dict "name" "sink-token" "projected" (dict "sources" (list (dict "serviceAccountToken" $token))) -}}
{{- $_ := set $.pod "volumes" (append ($.pod.volumes | default list) $volume) -}}
{{- $mount := dict "name" "sink-token" "mountPath" "/oidc" "readOnly" true -}}
{{- $_ := set $.container "volumeMounts" (append ($.container.volumeMounts | default list) $mount) -}}
{{- end -}}
{{- end -}}

{{/* Not empty if the webhook compares what users apply with quotas. */}}
{{- define "firesteel.validatesQuota" -}}
{{- $settings := include "firesteel.effective" (dict "root" . "name" "config-admission") | fromYaml -}}
{{- if and .Values.webhook.validation.enable (has (get $settings "quota") (list "hold" "fail")) -}}true{{- end -}}
{{- end -}}

{{/* Not empty if Prometheus can read the metrics. */}}
{{- define "firesteel.servesMetrics" -}}
{{- $settings := include "firesteel.effective" (dict "root" . "name" "config-observability") | fromYaml -}}
{{- if eq (get $settings "metrics-protocol") "prometheus" -}}true{{- end -}}
{{- end -}}

{{/* The port that metrics are served at. */}}
{{- define "firesteel.metricsPort" -}}
{{- $settings := include "firesteel.effective" (dict "root" . "name" "config-observability") | fromYaml -}}
{{- $endpoint := ternary (get $settings "metrics-endpoint") "" (ne (include "firesteel.servesMetrics" .) "") -}}
{{- regexFind "[0-9]+$" ($endpoint | default ":9090") -}}
{{- end -}}
