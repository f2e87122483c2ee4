{{/*
A hook: a Job that runs cmd/setup, and its rights. Takes root, name, events, rules (in all namespaces, as YAML), namespaces (as a list, in which
alone the rules hold; in all if it is missing), roleRules (in the release's namespace, as YAML, may be empty), clusterRules (about objects
outside namespaces, as YAML, may be missing), args (as YAML).
*/}}
{{- define "firesteel.hook" -}}
{{- $name := printf "%s-%s" (include "firesteel.fullname" .root) .name -}}
{{- $root := .root -}}
{{- $hook := dict "helm.sh/hook" .events "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" -}}
{{- $before := merge (dict "helm.sh/hook-weight" "-2") $hook }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace | quote }}
  labels:
    {{- include "firesteel.labels" $root | nindent 4 }}
  annotations:
    {{- toYaml $before | nindent 4 }}
{{- $roles := list (dict "name" $name "kind" "Role" "namespace" $root.Release.Namespace "rules" .roleRules) -}}
{{- if hasKey . "namespaces" -}}
{{- $rules := .rules -}}
{{- range .namespaces -}}
{{- $roles = append $roles (dict "name" (printf "%s-namespaced" $name) "kind" "Role" "namespace" . "rules" $rules) -}}
{{- end -}}
{{- else -}}
{{- $roles = append $roles (dict "name" $name "kind" "ClusterRole" "rules" .rules) -}}
{{- end -}}
{{- with get . "clusterRules" -}}
{{- $roles = append $roles (dict "name" (printf "%s-webhook" $name) "kind" "ClusterRole" "rules" .) -}}
{{- end -}}
{{- range $role := $roles }}
{{- if .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with get . "namespace" }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "firesteel.labels" $root | nindent 4 }}
  annotations:
    {{- toYaml $before | nindent 4 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .name }}
  {{- with get . "namespace" }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "firesteel.labels" $root | nindent 4 }}
  annotations:
    {{- toYaml $before | nindent 4 }}
subjects:
  - kind: ServiceAccount
    name: {{ $name }}
    namespace: {{ $root.Release.Namespace | quote }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
{{- end }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace | quote }}
  labels:
    {{- include "firesteel.labels" $root | nindent 4 }}
  annotations:
    {{- toYaml (merge (dict "helm.sh/hook-weight" "-1") $hook) | nindent 4 }}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: 600
  template:
    metadata:
      labels:
        {{- $labels := include "firesteel.labels" $root | fromYaml }}
        {{- merge (dict "app.kubernetes.io/name" "setup") ($root.Values.hook.labels | default dict) $labels | toYaml | nindent 8 }}
      {{- with $root.Values.hook.annotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      restartPolicy: Never
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.hook.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.hook.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.hook.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: setup
          image: {{ include "firesteel.image" (dict "root" $root "image" $root.Values.hook.image) | quote }}
          {{- with $root.Values.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
          args:
            {{- .args | nindent 12 }}
          resources:
            {{- toYaml $root.Values.hook.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          # kubectl describe pod shows what is in the way.
          terminationMessagePolicy: FallbackToLogsOnError
{{- end -}}
