{{/* Fails for values of another chart, which may lack values of this one: alone, before anything else that is wrong with them. */}}
{{- define "firesteel.validateVersion" -}}
{{- $version := ternary "not set" .Values.chartVersion (kindIs "invalid" .Values.chartVersion) -}}
{{- if ne (toString $version) .Chart.Version -}}
{{- fail (printf "\nchartVersion is %v, and the chart is %s: remove chartVersion from your values. For helm upgrade, write --reset-then-reuse-values in place of --reuse-values, which has kept the values of the other chart, and with them its images" $version .Chart.Version) -}}
{{- end -}}
{{- end -}}

{{/* Fails for values that are null, and that no template can do without. Helm removes the default of a key that is null. */}}
{{- define "firesteel.validateNulls" -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- range $path := list
  "admission.enable" "admission.serviceAccounts" "admission.warnings" "apis" "archiveService.enable" "archiveService.image.repository" "console.enable" "console.image.repository" "controller.archive" "controller.driverLogs" "controller.podDisruptionBudget.enable" "controller.rbac.create" "controller.rbac.scope"
  "controller.serviceAccount.create" "controller.sink" "crds.install" "crds.takeOver" "deadLetter.image.repository" "eventing.broker.class"
  "eventing.enable" "eventing.oidc" "grafana.dashboards.create" "handlers.archive.image.repository" "handlers.image.repository" "history.enable" "history.image.repository" "history.server.image" "hook.image.repository" "hook.releaseFinalizers"
  "image.repository" "networkPolicy.enable" "otherOperators.notice" "prometheus.podMonitor.create" "prometheus.rules.create" "prometheus.service.create"
  "prometheus.serviceMonitor.create" "settings" "spark.jobNamespaces" "spark.rbac.create" "spark.serviceAccount.create" "webhook.enable" "webhook.image.repository"
  "webhook.validation.enable" "webhook.validation.failurePolicy" "workloadNamespaces.enable" -}}
{{- $found := $values -}}
{{- $at := list -}}
{{- range $key := splitList "." $path -}}
{{- if not (kindIs "invalid" $found) -}}
{{- $found = get $found $key -}}
{{- $found = ternary nil $found (kindIs "string" $found | and (eq (toString $found) "")) -}}
{{- $at = append $at $key -}}
{{- end -}}
{{- end -}}
{{- if kindIs "invalid" $found -}}
{{- $problems = append $problems (printf "%s is null: remove the key to have the default, or give it a value" (join "." $at)) -}}
{{- end -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n%s" ($problems | uniq | join "\n")) -}}
{{- end -}}
{{- end -}}

{{/* Fails for values that contradict each other. Each line names the value and the remedy. */}}
{{- define "firesteel.validate" -}}
{{- include "firesteel.validateVersion" . -}}
{{- include "firesteel.validateNulls" . -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- if and $values.workloadNamespaces.enable (eq $values.controller.rbac.scope "Namespaces") -}}
{{- $problems = append $problems "workloadNamespaces.enable is true, and with controller.rbac.scope=Namespaces no labels of namespaces can be read: set one of them to its default" -}}
{{- end -}}
{{- if not $values.eventing.enable -}}
{{- range $handler, $place := include "firesteel.effective" (dict "root" $ "name" "config-handlers") | fromYaml -}}
{{- if and (eq $place "external") (not $values.controller.sink.uri) -}}
{{- $problems = append $problems (printf "settings.config-handlers.%s is external, and no event reaches a handler without a sink: set controller.sink.uri or eventing.enable=true" $handler) -}}
{{- end -}}
{{- end -}}
{{- if $values.eventing.oidc -}}
{{- $problems = append $problems "eventing.oidc is true, and there is no handler behind a Broker: set eventing.enable=true" -}}
{{- end -}}
{{- else -}}
{{- range $key := list "uri" "caCerts" "audience" -}}
{{- if get $values.controller.sink $key -}}
{{- $problems = append $problems (printf "controller.sink.%s is set, and so is eventing.enable, whose SinkBinding sets the same: remove one of them" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $values.eventing.enable -}}
{{- $broker := $values.eventing.broker -}}
{{- $inMemory := contains "InMemoryChannel" ($broker.channelTemplateSpec | default "InMemoryChannel") -}}
{{- if and $values.networkPolicy.enable (not $values.networkPolicy.eventsIngress) (or (ne $broker.class "MTChannelBasedBroker") (not $inMemory)) -}}
{{- $which := ternary (printf "eventing.broker.class is %s" $broker.class) "eventing.broker.channelTemplateSpec is of another channel than InMemoryChannel" (ne $broker.class "MTChannelBasedBroker") -}}
{{- $problems = append $problems (printf "%s, and networkPolicy.enable lets in no Pods of such a Broker: list them in networkPolicy.eventsIngress as peers of a NetworkPolicy, or set networkPolicy.enable=false" $which) -}}
{{- end -}}
{{- end -}}
{{- if $values.image.tag -}}
{{- $digests := list -}}
{{- range $component := list "" "hook" "handlers" "deadLetter" "webhook" "console" "archiveService" "history" -}}
{{- $image := (ternary $values (get $values $component | default dict) (eq $component "")).image | default dict -}}
{{- if $image.digest -}}
{{- $digests = append $digests (printf "%s.image.digest" $component | trimPrefix ".") -}}
{{- end -}}
{{- end -}}
{{- if $digests -}}
{{- $problems = append $problems (printf "image.tag is %s, and a digest wins over it: remove image.tag, or set to \"\": %s" $values.image.tag (join ", " $digests)) -}}
{{- end -}}
{{- end -}}
{{- with $values.controller.podDisruptionBudget -}}
{{- $replicas := int ($values.controller.replicas | default 0) -}}
{{- $minimum := get . "minAvailable" | default 0 | toString -}}
{{- $number := int (trimSuffix "%" $minimum) -}}
{{- if hasSuffix "%" $minimum -}}
{{- $number = div (add (mul $number $replicas) 99) 100 | int -}}
{{- end -}}
{{- if and .enable (gt $replicas 0) (gt $number 0) (ge $number $replicas) -}}
{{- $problems = append $problems (printf "controller.podDisruptionBudget.minAvailable is %s of %d replicas, so that no node could be drained: write less, more controller.replicas, or podDisruptionBudget.enable=false" $minimum $replicas) -}}
{{- end -}}
{{- end -}}
{{- if and $values.controller.sink.audience (not (hasPrefix "https://" $values.controller.sink.uri)) -}}
{{- $problems = append $problems "controller.sink.audience is set, and tokens are sent over https only: write an https URL into controller.sink.uri" -}}
{{- end -}}
{{- if eq $values.controller.rbac.scope "Namespaces" -}}
{{- if or (has "" $values.spark.jobNamespaces) (not $values.spark.jobNamespaces) -}}
{{- $problems = append $problems "controller.rbac.scope is Namespaces, and spark.jobNamespaces stands for all namespaces: list the namespaces there, without \"\", or write Cluster" -}}
{{- end -}}
{{- if $values.spark.jobNamespaceSelector -}}
{{- $problems = append $problems "controller.rbac.scope is Namespaces, and spark.jobNamespaceSelector selects others: remove the selector, or write Cluster" -}}
{{- end -}}
{{- end -}}
{{- if and $values.spark.jobNamespaceSelector (or $values.admission.enable $values.admission.serviceAccounts $values.admission.warnings) (not $values.admission.namespaceSelector) -}}
{{- $problems = append $problems "spark.jobNamespaceSelector is set, and no policy of the API server selects those namespaces: write the same into admission.namespaceSelector, as an object" -}}
{{- end -}}
{{- if and $values.otherOperators.notice (eq $values.controller.rbac.scope "Namespaces") -}}
{{- $problems = append $problems "otherOperators.notice is true, and controller.rbac.scope is Namespaces: other operators are in other namespaces; remove one of them" -}}
{{- end -}}
{{- $scope := get $values.settings "config-scope" | default dict -}}
{{- $effective := include "firesteel.effective" (dict "root" $ "name" "config-scope") | fromYaml -}}
{{- if eq $values.controller.rbac.scope "Namespaces" -}}
{{- if eq (get $scope "access" | toString) "cluster" -}}
{{- $problems = append $problems "settings.config-scope.access is cluster, and controller.rbac.scope is Namespaces: remove the setting, or write Cluster" -}}
{{- end -}}
{{- if get $scope "namespace-selector" -}}
{{- $problems = append $problems "settings.config-scope.namespace-selector is set, and controller.rbac.scope is Namespaces: remove the setting, or write Cluster" -}}
{{- end -}}
{{- else if eq (get $effective "access") "namespaces" -}}
{{- $problems = append $problems "settings.config-scope.access is namespaces, and controller.rbac.scope is Cluster: write Namespaces there, and remove the setting" -}}
{{- end -}}
{{- if and (hasKey $scope "watched-namespaces") $values.spark.jobNamespaces (not (has "" $values.spark.jobNamespaces)) -}}
{{- $problems = append $problems "settings.config-scope.watched-namespaces is set, and so is spark.jobNamespaces: add \"\" to spark.jobNamespaces, or remove the setting" -}}
{{- end -}}
{{- if and (hasKey $scope "namespace-selector") $values.spark.jobNamespaceSelector -}}
{{- $problems = append $problems "settings.config-scope.namespace-selector is set, and so is spark.jobNamespaceSelector: remove one of them" -}}
{{- end -}}
{{- if and $values.spark.jobNamespaceSelector (has "" $values.spark.jobNamespaces) -}}
{{- $problems = append $problems "spark.jobNamespaceSelector is set, and spark.jobNamespaces has \"\", which stands for all namespaces: remove \"\" from the list" -}}
{{- end -}}
{{- range $map := list "config-defaults" "config-kubeflow" -}}
{{- $lines := get (get $values.settings $map | default dict) "driver-log-lines" | default 0 -}}
{{- if and (ne (toString $lines) "0") (not $values.controller.driverLogs) -}}
{{- $problems = append $problems (printf "settings.%s.driver-log-lines is %v, and the controller may not read logs: set controller.driverLogs=true" $map $lines) -}}
{{- end -}}
{{- end -}}
{{- $observability := include "firesteel.effective" (dict "root" $ "name" "config-observability") | fromYaml -}}
{{- $protocol := get $observability "metrics-protocol" -}}
{{- $endpoint := get $observability "metrics-endpoint" -}}
{{- if and (hasPrefix "grpc" $protocol | or (hasPrefix "http" $protocol)) (not $endpoint) -}}
{{- $problems = append $problems (printf "settings.config-observability.metrics-protocol is %s, and no address is given: set settings.config-observability.metrics-endpoint" $protocol) -}}
{{- else if and (eq $protocol "none") $endpoint -}}
{{- $problems = append $problems "settings.config-observability.metrics-endpoint is set, and metrics-protocol is none: remove one of them" -}}
{{- else if and (eq $protocol "prometheus") $endpoint (not (regexMatch ":[0-9]+$" $endpoint)) -}}
{{- $problems = append $problems (printf "settings.config-observability.metrics-endpoint is %s, and has no port for Prometheus: write an address such as :9090" $endpoint) -}}
{{- else if and (eq $protocol "prometheus") (hasSuffix ":8080" $endpoint) -}}
{{- $problems = append $problems (printf "settings.config-observability.metrics-endpoint is %s, and the controller's probes have the port 8080: write another port, such as :9090" $endpoint) -}}
{{- end -}}
{{- range $key := list "podMonitor" "serviceMonitor" -}}
{{- if and (get $values.prometheus $key).create (not (include "firesteel.servesMetrics" $)) -}}
{{- $problems = append $problems (printf "prometheus.%s.create is true, and no metrics are served: set settings.config-observability.metrics-protocol=prometheus" $key) -}}
{{- end -}}
{{- end -}}
{{- if and $values.prometheus.serviceMonitor.create (not $values.prometheus.service.create) -}}
{{- $problems = append $problems "prometheus.serviceMonitor.create is true, and there is no Service to monitor: set prometheus.service.create=true" -}}
{{- end -}}
{{- with include "firesteel.settingProblems" . -}}
{{- $problems = concat $problems (splitList "\n" .) -}}
{{- end -}}
{{- $ownVariables := list -}}
{{- $controller := include "firesteel.inCore" (dict "root" . "kind" "Deployment" "name" "controller") | fromYaml -}}
{{- range (first $controller.spec.template.spec.containers).env -}}
{{- $ownVariables = append $ownVariables .name -}}
{{- end -}}
{{- range $variable := $values.controller.env -}}
{{- if has $variable.name $ownVariables -}}
{{- $problems = append $problems (printf "controller.env has %s, which the chart sets itself: remove it" $variable.name) -}}
{{- end -}}
{{- end -}}
{{- $labels := dict "commonLabels" $values.commonLabels -}}
{{- range $component := list "controller" "handlers" "deadLetter" "hook" -}}
{{- $_ := set $labels (printf "%s.labels" $component) (get (get $values $component) "labels") -}}
{{- end -}}
{{- range $path, $own := $labels -}}
{{- range $label := list "app.kubernetes.io/name" "app.kubernetes.io/part-of" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" -}}
{{- if hasKey ($own | default dict) $label -}}
{{- $problems = append $problems (printf "%s has %s, which the chart sets itself: remove this label" $path $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.crds.install (not $values.crds.takeOver) -}}
{{- range splitList " " (include "firesteel.crds" .) -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" . -}}
{{- if and $live (ne (dig "metadata" "labels" "app.kubernetes.io/part-of" "" $live) "firesteel") -}}
{{- $release := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $live -}}
{{- $owner := ternary (printf "the Helm release %s/%s" (dig "metadata" "annotations" "meta.helm.sh/release-namespace" "" $live) $release) "another owner" (ne $release "") -}}
{{- $managers := list -}}
{{- range dig "metadata" "managedFields" list $live -}}
{{- $managers = append $managers .manager -}}
{{- end -}}
{{- $problems = append $problems (printf "the CRD %s belongs to %s (written by %s): set crds.takeOver=true, which keeps all objects, before you uninstall that operator: docs/operators/moving-in.md" . $owner ($managers | uniq | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n%s" (join "\n" $problems)) -}}
{{- end -}}
{{- end -}}
