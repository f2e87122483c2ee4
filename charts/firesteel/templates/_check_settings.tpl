{{/*
What is wrong with settings that the schema lets pass, a problem on each line: the controller would refuse it after the installation.
hack/chart/settings.go has what a pattern can tell.
*/}}
{{- define "firesteel.settingProblems" -}}
{{- $root := . -}}
{{- $settings := .Values.settings -}}
{{- $problems := list -}}

{{- $selector := include "firesteel.selectorPattern" . -}}
{{- $scope := get $settings "config-scope" | default dict -}}
{{- range $path, $value := dict
  "settings.config-scope.namespace-selector" (get $scope "namespace-selector")
  "settings.config-scope.label-selector" (get $scope "label-selector")
  "spark.jobNamespaceSelector" .Values.spark.jobNamespaceSelector -}}
{{- if not (regexMatch $selector ($value | default "")) -}}
{{- $problems = append $problems (printf "%s is %q: write a label selector such as spark=enabled,stage!=test" $path $value) -}}
{{- end -}}
{{- end -}}

{{- $maps := dict -}}
{{- range list "config-archive" "config-defaults" "config-early" "config-kubeflow" "config-leader-election" "config-logging" "config-namespaces" "config-observability" -}}
{{- $_ := set $maps . (include "firesteel.effective" (dict "root" $root "name" .) | fromYaml) -}}
{{- end -}}

{{- $lease := get $maps "config-leader-election" -}}
{{- $times := list -}}
{{- $nanoseconds := list -}}
{{- range $key, $default := dict "1 lease-duration" "60s" "2 renew-deadline" "40s" "3 retry-period" "10s" -}}
{{- $time := get $lease (substr 2 -1 $key) | default $default -}}
{{- $times = append $times $time -}}
{{- $nanoseconds = append $nanoseconds (include "firesteel.nanoseconds" $time | int64) -}}
{{- end -}}
{{- $retries := mul 12 (index $nanoseconds 2) -}}
{{- if or (le (index $nanoseconds 0) (index $nanoseconds 1)) (le (mul 10 (index $nanoseconds 1)) $retries) -}}
{{- $problems = append $problems (printf "settings.config-leader-election has lease-duration, renew-deadline, retry-period %s: write each longer than the next, such as 15s, 10s, 2s" (join ", " $times)) -}}
{{- end -}}

{{- $longest := include "firesteel.nanoseconds" "87600h" | int64 -}}
{{- range $path := list "config-defaults active-deadline" "config-kubeflow active-deadline" "config-kubeflow driver-start-timeout" "config-kubeflow executors-start-timeout" -}}
{{- $at := splitList " " $path -}}
{{- $time := get (get $maps (first $at)) (last $at) | trim -}}
{{- $parsed := include "firesteel.nanoseconds" $time | int64 -}}
{{- if or (gt $parsed $longest) (and (eq $parsed 0) (regexMatch "[1-9]" $time)) -}}
{{- $problems = append $problems (printf "settings.%s.%s is %s: write a time with its unit, such as 10m, up to 87600h0m0s, or 0s for no limit" (first $at) (last $at) $time) -}}
{{- end -}}
{{- end -}}

{{- range $map := list "config-defaults" "config-kubeflow" -}}
{{- $conf := get (get $maps $map) "spark-defaults.conf" | default "" -}}
{{- if not (contains `\` $conf) -}}{{- /* Escapes and continued lines are left to the controller. */ -}}
{{- range $line := regexSplit `\r?\n|\r` $conf -1 -}}
{{- $property := regexFind `^[^\s=:]+` (trim $line) -}}
{{- if or (not (trim $line)) (regexMatch `^[#!]` (trim $line)) -}}
{{- else if not (hasPrefix "spark." $property) -}}
{{- $problems = append $problems (printf "settings.%s.spark-defaults.conf has the key %q: Spark reads only keys that begin with spark., so correct it or remove it" $map $property) -}}
{{- else if has $property (list "spark.app.id" "spark.app.name" "spark.kubernetes.driver.pod.name" "spark.kubernetes.executor.podNamePrefix" "spark.kubernetes.namespace" "spark.submit.deployMode") -}}
{{- $problems = append $problems (printf "settings.%s.spark-defaults.conf has the key %q: each application needs its own value, so remove it" $map $property) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $kubeflow := get $maps "config-kubeflow" -}}
{{- $scheduler := get $kubeflow "default-batch-scheduler" | default "" | trim -}}
{{- if and $scheduler (not (has $scheduler (regexSplit `[,\s]+` (get $kubeflow "batch-schedulers" | default "") -1))) -}}
{{- $problems = append $problems (printf "settings.config-kubeflow.default-batch-scheduler is %q: write it into settings.config-kubeflow.batch-schedulers, too" $scheduler) -}}
{{- end -}}
{{- $labels := list -}}
{{- range $label := regexSplit `[,\s]+` (get $kubeflow "metrics-labels" | default "") -1 -}}
{{- $label = replace "-" "_" $label -}}
{{- if has $label (list "le" "quantile") -}}
{{- $problems = append $problems (printf "settings.config-kubeflow.metrics-labels has %q, a label of Prometheus's own: remove it" $label) -}}
{{- else if and $label (has $label $labels) -}}
{{- $problems = append $problems (printf "settings.config-kubeflow.metrics-labels has %q twice: remove one of them" $label) -}}
{{- end -}}
{{- $labels = append $labels $label -}}
{{- end -}}
{{- range $key := list "metrics-submit-latency-buckets" "metrics-start-latency-buckets" -}}
{{- if hasKey $kubeflow $key -}}
{{- $bounds := list -}}
{{- $increasing := true -}}
{{- range $bound := regexFindAll `[^,\s]+` (get $kubeflow $key) -1 -}}
{{- if and $bounds (le (float64 $bound) (last $bounds)) -}}
{{- $increasing = false -}}
{{- end -}}
{{- $bounds = append $bounds (float64 $bound) -}}
{{- end -}}
{{- if not (and $bounds $increasing) -}}
{{- $problems = append $problems (printf "settings.config-kubeflow.%s is %q: write increasing numbers of seconds, separated by commas" $key (get $kubeflow $key)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $observability := get $maps "config-observability" -}}
{{- $protocol := get $observability "tracing-protocol" | default "none" -}}
{{- $endpoint := get $observability "tracing-endpoint" -}}
{{- if and (has $protocol (list "grpc" "http/protobuf")) (not $endpoint) -}}
{{- $problems = append $problems (printf "settings.config-observability.tracing-protocol is %s, and no address is given: set settings.config-observability.tracing-endpoint" $protocol) -}}
{{- else if and (has $protocol (list "none" "stdout")) $endpoint -}}
{{- $problems = append $problems (printf "settings.config-observability.tracing-endpoint is set, and tracing-protocol is %s: remove one of them" $protocol) -}}
{{- end -}}
{{- $rate := get $observability "tracing-sampling-rate" | default "0" -}}
{{- if or (lt (float64 $rate) 0.0) (gt (float64 $rate) 1.0) -}}
{{- $problems = append $problems (printf "settings.config-observability.tracing-sampling-rate is %s: write a number from 0 to 1" $rate) -}}
{{- end -}}

{{- $zap := get (get $maps "config-logging") "zap-logger-config" -}}
{{- if $zap -}}
{{- with get (fromJson $zap) "Error" -}}
{{- $problems = append $problems (printf "settings.config-logging.zap-logger-config is not readable: write zap's configuration in JSON (%s)" .) -}}
{{- end -}}
{{- end -}}

{{- range $path, $keys := dict
  "config-archive namespaces" list
  "config-defaults applicationTolerations" (list "applicationTimeoutConfig" "instanceConfig" "resourceRetainDurationMillis" "resourceRetainPolicy" "resourceRetentionPolicy" "restartConfig" "ttlAfterStopMillis")
  "config-early ui-gateway" (list "listener" "name" "namespace" "urlFormat")
  "config-kubeflow ui-gateway" (list "listener" "name" "namespace" "urlFormat")
  "config-kubeflow ingress-annotations" list
  "config-namespaces labels" list
  "config-namespaces limit-range" (list "limits")
  "config-namespaces network-policy" (list "egress" "ingress" "podSelector" "policyTypes")
  "config-namespaces resource-quota" (list "hard" "scopeSelector" "scopes") -}}
{{- $at := splitList " " $path -}}
{{- $text := get (get $maps (first $at)) (last $at) | default "" -}}
{{- $value := fromYaml $text -}}
{{- if hasKey $value "Error" -}}
{{- $problems = append $problems (printf "settings.%s.%s is not readable: write it in YAML (%s)" (first $at) (last $at) (get $value "Error" | toString | replace "\n" " ")) -}}
{{- else if $keys -}}
{{- range $key := keys $value | sortAlpha -}}
{{- if not (has $key $keys) -}}
{{- $problems = append $problems (printf "settings.%s.%s has the key %q: write %s" (first $at) (last $at) $key (join ", " $keys)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- join "\n" $problems -}}
{{- end -}}

{{/* The nanoseconds of a duration of Go, and 0 for one that is too long. */}}
{{- define "firesteel.nanoseconds" -}}
{{- (dateModify (trim .) (toDate "2006-01-02 -0700" "1970-01-01 +0000")).UnixNano -}}
{{- end -}}

{{/* What matches label selectors, as Kubernetes parses them. */}}
{{- define "firesteel.selectorPattern" -}}
{{- $name := `[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?` -}}
{{- $key := printf `([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?%s` $name -}}
{{- $values := printf `\(\s*(%[1]s\s*)?(,\s*(%[1]s\s*)?)*\)` $name -}}
{{- $requirement := printf `(!\s*%[1]s|%[1]s(\s*(=|==|!=)\s*(%[2]s)?|\s*[<>]\s*[0-9]{1,18}|\s+(in|notin)\s*%[3]s)?)` $key $name $values -}}
{{- printf `^\s*(%[1]s\s*(,\s*%[1]s\s*)*)?$` $requirement -}}
{{- end -}}
