{{- define "replab.name" -}}
{{ printf "%s-operator" .Release.Name | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "replab.selector" -}}
app.kubernetes.io/name: replab
app.kubernetes.io/component: operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "replab.labels" -}}
{{ include "replab.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "replab.serviceAccount" -}}
{{ default (include "replab.name" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "replab.image" -}}
{{ default (printf "replab:%s" .Chart.AppVersion) .Values.images.replab }}
{{- end }}

{{/* The operator's configuration file: wire.OperatorConfig. */}}
{{- define "replab.config" -}}
{{- $servers := dict "MySQL" .Values.images.mysql "MariaDB" .Values.images.mariadb -}}
{{- with .Values.images.postgresql }}{{ $servers = set $servers "PostgreSQL" . }}{{ end -}}
{{- with .Values.images.postgresqlZalando }}{{ $servers = set $servers "ZalandoOperator/PostgreSQL" . }}{{ end -}}
{{- with .Values.images.mysqlGalera }}{{ $servers = set $servers "Galera/MySQL" . }}{{ end -}}
{{- $images := dict "replab" (include "replab.image" .) "pullPolicy" .Values.images.pullPolicy "k6" .Values.images.k6 "servers" $servers "proxies" (dict "HAProxy" .Values.images.haproxy "ProxySQL" .Values.images.proxysql) -}}
{{- dict "images" $images "pods" .Values.pods "platformUser" (include "replab.platformUser" . | eq "true") "foreignOperators" (dict "K6Operator" (.Values.k6Operator | default dict) "ZalandoOperator" (.Values.zalandoOperator | default dict)) "watchNamespaces" .Values.watchNamespaces "oneAtATime" .Values.oneAtATime "workers" (int .Values.workers) "clusterDomain" .Values.clusterDomain "name" (include "replab.name" .) "leaderElection" .Values.leaderElection "metricsAddress" (include "replab.metricsPort" . | printf ":%s") "healthAddress" ":8081" | merge (include "replab.forPrometheus" . | fromYaml) | mustToPrettyJson -}}
{{- end }}

{{/* Who is let in to the metrics of experiments' processes, if anybody is, and whether the operator's own are closed. Values of an earlier release know nothing of it. */}}
{{- define "replab.forPrometheus" -}}
{{- with .Values.metrics.prometheus }}{{ if .namespace }}{{ dict "prometheus" . | toYaml }}{{ end }}{{ end }}
{{- if .Values.metrics.secure }}
metricsSecure: true
{{- end }}
{{- end }}

{{/* Where the operator's metrics are: at another port by TLS, so that who was not told of it is refused and not puzzled. */}}
{{- define "replab.metricsPort" -}}
{{ .Values.metrics.secure | default false | ternary "8443" "8080" }}
{{- end }}

{{/* Whether the platform gives pods their users: as set, or else as the cluster is. */}}
{{- define "replab.platformUser" -}}
{{ kindIs "invalid" .Values.platformUser | ternary (.Capabilities.APIVersions.Has "security.openshift.io/v1") .Values.platformUser }}
{{- end }}
