{{- define "kubelua.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}{{ else if contains "kubelua" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-kubelua" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "kubelua.selector" -}}
app.kubernetes.io/name: kubelua
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kubelua.labels" -}}
{{ include "kubelua.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "kubelua.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "kubelua.fullname" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "kubelua.subject" -}}
- kind: ServiceAccount
  name: {{ include "kubelua.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "kubelua.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "kubelua.streamFlags" -}}
{{- $files := dict "credentials" "creds" "token" "token" "password" "password" "ca.crt" "ca" "tls.crt" "cert" "tls.key" "key" -}}
{{- range .Values.streams.keys }}
- --nats-{{ get $files . }}-file=/streams/{{ . }}
{{- end }}
{{- with .Values.streams.user }}
- --nats-user={{ . }}
{{- end }}
{{- end }}
