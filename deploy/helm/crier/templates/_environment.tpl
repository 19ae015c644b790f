{{/* Environment of a container. Takes the root and a role. */}}
{{- define "crier.environment" -}}
{{- $scope := include "crier.scope" .root -}}
{{- $settings := dict "ROLE" .role -}}
{{- with .root.Values -}}
{{- $_ := set $settings "KAFKA_BROKERS" (join "," .kafka.brokers) -}}
{{- $_ := set $settings "KAFKA_GROUP_ID" (default $scope .kafka.groupId) -}}
{{- $_ := set $settings "KAFKA_DEAD_LETTER_TOPIC" (default (printf "%s.dead-letter" $scope) .kafka.deadLetterTopic) -}}
{{- $_ := set $settings "CHANNEL_PREFIX" (default (printf "%s:" $scope) .redis.channelPrefix) -}}
{{- $_ := set $settings "DRAIN_DELAY_MS" .drain.delayMs -}}
{{- $_ := set $settings "DRAIN_SPREAD_MS" .drain.spreadMs -}}
{{- if and (ne $.role "worker") (ne (toString .gateway.processes) "1") }}{{ $_ := set $settings "PROCESSES" .gateway.processes }}{{ end -}}
{{- if .kafka.tls }}{{ $_ := set $settings "KAFKA_TLS" "true" }}{{ end -}}
{{- if .kafka.saslMechanism }}{{ $_ := set $settings "KAFKA_SASL_MECHANISM" .kafka.saslMechanism }}{{ end -}}
{{- if .kafka.saslUsername }}{{ $_ := set $settings "KAFKA_SASL_USERNAME" .kafka.saslUsername }}{{ end -}}
{{- if .kafka.saslTokenProvider }}{{ $_ := set $settings "KAFKA_SASL_TOKEN_PROVIDER" .kafka.saslTokenProvider }}{{ end -}}
{{- if .redis.url }}{{ $_ := set $settings "REDIS_URL" .redis.url }}{{ end -}}
{{- if .tunables }}{{ $_ := set $settings "TUNABLES_FILE" "/etc/crier/tunables/tunables.json" }}{{ end -}}
{{- if .graph.path }}{{ $_ := set $settings "GRAPH" .graph.path }}
{{- else if or .graph.files .graph.configMap .graph.volume }}{{ $_ := set $settings "GRAPH" "/graph" }}{{ end -}}
{{- range $name, $_secret := .secrets }}{{ $_ := set $settings (printf "%s_FILE" $name) (printf "/etc/crier/secrets/%s" $name) }}{{ end -}}
{{- range $name, $value := .settings }}{{ $_ := set $settings $name $value }}{{ end -}}
{{- end -}}
{{- range $name, $value := $settings }}
- name: {{ $name }}
  value: {{ if kindIs "float64" $value }}{{ toJson $value | quote }}{{ else }}{{ $value | quote }}{{ end }}
{{- end -}}
{{- end -}}
