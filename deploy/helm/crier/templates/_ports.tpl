{{/* Ports of a NetworkPolicy's rule for Kafka. */}}
{{- define "crier.kafkaPorts" -}}
{{- include "crier.ports" (dict "given" .Values.networkPolicy.kafka.ports "addresses" .Values.kafka.brokers "default" 9092) -}}
{{- end -}}

{{/* Ports of a NetworkPolicy's rule for Redis. Sentinels say where the primary listens: it is expected at the usual port, too. */}}
{{- define "crier.redisPorts" -}}
{{- $addresses := regexReplaceAll "^[^:]+://([^/?]*).*$" .Values.redis.url "${1}" | splitList "," -}}
{{- $isSentinel := contains "+sentinel://" .Values.redis.url -}}
{{- if $isSentinel }}{{ $addresses = append $addresses ":6379" }}{{ end -}}
{{- include "crier.ports" (dict "given" .Values.networkPolicy.redis.ports "addresses" $addresses "default" (ternary 26379 6379 $isSentinel)) -}}
{{- end -}}

{{/* Takes the ports that are given, or else the addresses that have them, and the port of an address without one. */}}
{{- define "crier.ports" -}}
{{- $ports := .given -}}
{{- if not $ports -}}
{{- range .addresses }}{{ $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default $.default | int) }}{{ end -}}
{{- end -}}
{{- range uniq $ports }}
- { port: {{ . }}, protocol: TCP }
{{- end -}}
{{- end -}}
