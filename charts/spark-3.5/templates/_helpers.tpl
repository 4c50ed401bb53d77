{{- define "spark.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Names of Services have no dots, and begin with a letter. */}}
{{- define "spark.fullname" -}}
{{- $name := include "spark.longname" . -}}
{{- if regexMatch "^[0-9]" $name }}{{ printf "s%s" $name }}{{ else }}{{ $name }}{{ end -}}
{{- end -}}

{{- define "spark.longname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "spark.name" .) .Release.Name -}}
{{- .Release.Name | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "spark.name" .) | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "spark.labels" -}}
{{ include "spark.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "spark.selector" -}}
app.kubernetes.io/name: {{ include "spark.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "spark.serviceAccount" -}}
{{- default (ternary (include "spark.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{/* Of executors, which run code of users: it may do nothing. */}}
{{- define "spark.executorAccount" -}}
{{- if and .Values.serviceAccount.executors (eq .Values.serviceAccount.executors (include "spark.serviceAccount" .)) -}}
{{- fail "serviceAccount.executors: code of users runs as this account, so it must not be the driver's (serviceAccount.name)" -}}
{{- end -}}
{{- default (ternary (printf "%s-executor" (include "spark.fullname" .)) "default" .Values.serviceAccount.create) .Values.serviceAccount.executors -}}
{{- end -}}

{{/* A number as Spark reads it: without an exponent. */}}
{{- define "spark.text" -}}
{{- if kindIs "string" . -}}{{ . }}{{- else -}}{{ toJson . }}{{- end -}}
{{- end -}}

{{- define "spark.claim" -}}
{{- default (printf "%s-events" (include "spark.fullname" .)) .Values.eventLog.existingClaim -}}
{{- end -}}

{{/* Whether the plugin watches anything. */}}
{{- define "spark.watched" -}}
{{- if or .Values.monitoring.openTelemetry.enabled .Values.monitoring.metrics.enabled .Values.monitoring.s3aMetrics.enabled -}}true{{- end -}}
{{- end -}}

{{/* Spark Connect's plugin, ours, and the user's own, each once. Without ours, Spark's own server class starts Connect: in 3.5 it
     cannot run next to Connect's plugin. */}}
{{- define "spark.plugins" -}}
{{- $plugins := list -}}
{{- if include "spark.watched" . -}}
{{- $plugins = list "org.apache.spark.sql.connect.SparkConnectPlugin" "io.pyrometer.spark.PyrometerPlugin" -}}
{{- end -}}
{{- with index .Values.connect.conf "spark.plugins" -}}
{{- range splitList "," . -}}
{{- $plugins = append $plugins (trim .) -}}
{{- end -}}
{{- end -}}
{{- $plugins | uniq | join "," -}}
{{- end -}}

{{- define "spark.main" -}}
{{- if include "spark.watched" . -}}io.pyrometer.spark.connect.ConnectServer{{- else -}}org.apache.spark.sql.connect.service.SparkConnectServer{{- end -}}
{{- end -}}
