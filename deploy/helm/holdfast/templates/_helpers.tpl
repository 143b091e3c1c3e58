{{- define "holdfast.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "holdfast.selector" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "holdfast.labels" -}}
{{ include "holdfast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "holdfast.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* JSON: the StatefulSets, each { name, zone }. */}}
{{- define "holdfast.sets" -}}
{{- $name := include "holdfast.name" . }}
{{- $sets := list }}
{{- range .Values.zones }}{{ $sets = append $sets (dict "name" (printf "%s-%s" $name .) "zone" .) }}{{ end }}
{{- if not .Values.zones }}{{ $sets = list (dict "name" $name "zone" "") }}{{ end }}
{{- $sets | toJson }}
{{- end }}

{{/* JSON: the nodes, each { pod, id, zone, host, founder }, those that are there at first in front. */}}
{{- define "holdfast.nodes" -}}
{{- $root := . }}
{{- $nodes := list }}
{{- range $at := until (int .Values.replicas) }}
{{- range include "holdfast.sets" $root | fromJsonArray }}
{{- $pod := printf "%s-%d" .name $at }}
{{- $id := get $root.Values.names $pod | default $pod }}
{{- $host := printf "%s.%s-peers.%s.svc.%s" $pod (include "holdfast.name" $root) $root.Release.Namespace $root.Values.clusterDomain }}
{{- $nodes = append $nodes (dict "pod" $pod "id" $id "zone" .zone "host" $host "founder" (lt $at (int $root.Values.founders))) }}
{{- end }}
{{- end }}
{{- $nodes | toJson }}
{{- end }}

{{- define "holdfast.secret" -}}
{{ .Values.secrets.existing | default (printf "%s-nodes" (include "holdfast.name" .)) }}
{{- end }}

{{- define "holdfast.scheme" -}}
{{ ternary "https" "http" .Values.tls.enabled }}
{{- end }}

{{- define "holdfast.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "holdfast.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* What the command line needs to speak with the cluster. */}}
{{- define "holdfast.adminEnvironment" -}}
{{- $endpoints := list }}
{{- range include "holdfast.nodes" . | fromJsonArray }}
{{- if .founder }}{{ $endpoints = append $endpoints (printf "%s://%s:9001" (include "holdfast.scheme" $) .host) }}{{ end }}
{{- end }}
- { name: HOLDFAST_ADMIN_ENDPOINT, value: {{ join "," $endpoints | quote }} }
- { name: HOLDFAST_CA_FILE, value: /certificates/ca.pem }
- name: HOLDFAST_ADMIN_TOKEN
  valueFrom:
    secretKeyRef: { name: {{ .Values.members.tokenSecret | quote }}, key: token }
{{- end }}
