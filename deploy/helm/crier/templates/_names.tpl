{{/* Name of the release's objects: its name, and the chart's unless it is part of it, or fullnameOverride. A Service's name has no dots. */}}
{{- define "crier.name" -}}
{{- $chart := default .Chart.Name .Values.nameOverride -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $name := contains $chart $release | ternary $release (printf "%s-%s" $release $chart) -}}
{{- regexReplaceAll "-+$" (default $name .Values.fullnameOverride | trunc 36) "" -}}
{{- end -}}

{{/* Distinguishes releases on one Kafka and one Redis, also those of the same name in different namespaces. */}}
{{- define "crier.scope" -}}
{{ .Release.Namespace }}.{{ include "crier.name" . }}
{{- end -}}

{{- define "crier.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "crier.labels" -}}
{{ include "crier.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* Roles of the release's Deployments, separated by spaces. */}}
{{- define "crier.roles" -}}
{{ eq .Values.mode "all" | ternary "all" "gateway worker" }}
{{- end -}}

{{- define "crier.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{/*
Seconds from the start of preStop to SIGKILL. A pod ends within DRAIN_DELAY_MS + DRAIN_SPREAD_MS + 15 s; its watchdog ends it 3.5 s later at
the latest. The rest of the five seconds is margin.
*/}}
{{- define "crier.gracePeriod" -}}
{{- with .Values.drain -}}
{{ add (divf (add .delayMs .spreadMs) 1000 | ceil | int) 15 5 .preStopSleepSeconds }}
{{- end -}}
{{- end -}}
