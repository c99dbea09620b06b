{{/* Rejects values that contradict each other. Types and names are checked by values.schema.json. */}}
{{- define "hub.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.cluster.enabled) -}}
{{- fail (printf "replicas: must be 1 without cluster.enabled, found %d" (int .Values.replicas)) -}}
{{- end -}}
{{- if gt (int .Values.updatePartition) (int .Values.replicas) -}}
{{- fail (printf "updatePartition: must be at most replicas (%d), found %d" (int .Values.replicas) (int .Values.updatePartition)) -}}
{{- end -}}
{{- if and .Values.nats.enabled (not .Values.cluster.enabled) -}}
{{- fail "nats.enabled: needs cluster.enabled" -}}
{{- end -}}
{{- if and .Values.nats.enabled .Values.cluster.servers -}}
{{- fail (printf "cluster.servers: must be empty with nats.enabled, found %s" (join ", " .Values.cluster.servers)) -}}
{{- end -}}
{{- if and .Values.cluster.enabled (not .Values.nats.enabled) (not .Values.cluster.servers) -}}
{{- fail "cluster.servers: must name NATS servers, or nats.enabled must be true" -}}
{{- end -}}
{{- if and .Values.cluster.servers (not .Values.cluster.enabled) -}}
{{- fail "cluster.servers: needs cluster.enabled" -}}
{{- end -}}
{{- if and .Values.nats.enabled (not (and .Values.cluster.tlsSecret .Values.cluster.passwordsSecret)) -}}
{{- fail "cluster.tlsSecret and cluster.passwordsSecret: must not be empty with nats.enabled, whose servers require both" -}}
{{- end -}}
{{- if and .Values.history.enabled (not .Values.persistence.enabled) -}}
{{- fail "history.enabled: needs persistence.enabled, because the history is on the volume" -}}
{{- end -}}
{{- if and .Values.history.enabled .Values.persistence.enabled -}}
{{- $size := include "hub.mebibytes" .Values.persistence.size | int -}}
{{- if ge (int .Values.history.maxSize) $size -}}
{{- fail (printf "history.maxSize: must be less than persistence.size (%d MiB), found %d" $size (int .Values.history.maxSize)) -}}
{{- end -}}
{{- end -}}
{{- range $setting, $_ := .Values.settings -}}
{{- if hasKey $.Values.secretSettings $setting -}}
{{- fail (printf "settings.%s: is also in secretSettings" $setting) -}}
{{- end -}}
{{- with get (include "hub.managed" $ | fromYaml) $setting -}}
{{- fail (printf "settings.%s: is set by the chart from %s" $setting .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.cluster.passwordsSecret (hasKey .Values.secretSettings "cluster_password") -}}
{{- fail "secretSettings.cluster_password: is set by the chart from cluster.passwordsSecret" -}}
{{- end -}}
{{- if and .Values.permissions (not .Values.oidc.enabled) -}}
{{- fail "permissions: need oidc.enabled, otherwise every client has full access" -}}
{{- end -}}
{{- if .Values.oidc.enabled -}}
{{- if not (and .Values.oidc.configUrl .Values.oidc.clientName) -}}
{{- fail "oidc.configUrl and oidc.clientName: must not be empty with oidc.enabled" -}}
{{- end -}}
{{- $guest := get .Values.permissions "guest" | default dict -}}
{{- range list "/health" "/version" -}}
{{- if not (has "READ_ANY" (get $guest . | default list)) -}}
{{- fail (printf "permissions.guest: must have READ_ANY for %s, or the probes fail" .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.tokenSecret) (not (has "READ_ANY" (get $guest "/metrics" | default list))) -}}
{{- fail "serviceMonitor: needs tokenSecret, or READ_ANY for /metrics in permissions.guest" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts: must name a host with ingress.enabled" -}}
{{- end -}}
{{- end -}}

{{/* Settings that the chart sets in the environment, and the values that they come from. */}}
{{- define "hub.managed" -}}
host: the port of the Service
port: the port of the Service
allowed_hosts: allowedHosts and ingress.hosts
num_threads: numThreads
data_path: persistence
history: history.enabled
history_path: persistence
history_max_size: history.maxSize
cluster_servers: cluster.servers
cluster_hub_name: the name of the pod
cluster_username: cluster.username
cluster_tls_ca_path: cluster.tlsSecret
cluster_tls_certificate_path: cluster.tlsSecret
cluster_tls_key_path: cluster.tlsSecret
require_authorization: oidc.enabled
openid_config_url: oidc.configUrl
openid_client_name: oidc.clientName
openid_browser_client_name: oidc.browserClientName
{{- end -}}

{{/* A quantity of Kubernetes, such as 20Gi, in MiB. */}}
{{- define "hub.mebibytes" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[A-Za-z]+$" . -}}
{{- div (mul $number (get (dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "M" 1000000 "G" 1000000000 "T" 1000000000000) $unit | int64)) 1048576 -}}
{{- end -}}

{{/* Labels of all objects, in addition to `app`, which selects pods. */}}
{{- define "hub.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}
