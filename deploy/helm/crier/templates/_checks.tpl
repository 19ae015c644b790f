{{/* What the schema cannot express. Fails with the value's name and what is expected. */}}
{{- define "crier.checks" -}}
{{- if not (regexMatch "^[a-z]" (include "crier.name" .)) -}}
{{- fail (printf "release %s: expected a name that begins with a letter, because a Service is named after it; or set fullnameOverride" .Release.Name) -}}
{{- end -}}
{{- if not .Values.kafka.brokers -}}
{{- fail "kafka.brokers: expected at least one host:port" -}}
{{- end -}}
{{- if not (or .Values.redis.url (hasKey .Values.secrets "REDIS_URL")) -}}
{{- fail "redis.url or secrets.REDIS_URL: expected one of them" -}}
{{- end -}}
{{- if and .Values.redis.url (hasKey .Values.secrets "REDIS_URL") -}}
{{- fail "redis.url and secrets.REDIS_URL: expected only one of them" -}}
{{- end -}}
{{- with .Values.networkPolicy -}}
{{- if and .enabled (hasKey $.Values.secrets "REDIS_URL") (not .redis.ports) -}}
{{- fail "networkPolicy.redis.ports: expected the ports of Redis, because secrets.REDIS_URL hides them" -}}
{{- end -}}
{{- end -}}
{{- range $name := keys .Values.secrets -}}
{{- if and (hasPrefix "KAFKA_TLS_" $name) (not $.Values.kafka.tls) -}}
{{- fail (printf "kafka.tls: expected true, because secrets.%s is set" $name) -}}
{{- end -}}
{{- end -}}
{{- with .Values.kafka -}}
{{- $hasUser := hasKey $.Values.secrets "KAFKA_SASL_USERNAME" -}}
{{- $hasPassword := hasKey $.Values.secrets "KAFKA_SASL_PASSWORD" -}}
{{- if and .saslUsername $hasUser -}}
{{- fail "kafka.saslUsername and secrets.KAFKA_SASL_USERNAME: expected only one of them" -}}
{{- end -}}
{{- if and .saslTokenProvider (ne .saslMechanism "oauthbearer") -}}
{{- fail "kafka.saslMechanism: expected oauthbearer, because kafka.saslTokenProvider is set" -}}
{{- end -}}
{{- if eq .saslMechanism "oauthbearer" -}}
{{- if not .saslTokenProvider -}}
{{- fail "kafka.saslTokenProvider: expected, because kafka.saslMechanism is oauthbearer" -}}
{{- end -}}
{{- if or .saslUsername $hasUser $hasPassword -}}
{{- fail "kafka.saslUsername and secrets.KAFKA_SASL_*: expected none, because kafka.saslMechanism is oauthbearer" -}}
{{- end -}}
{{- else if and .saslMechanism (not (and (or .saslUsername $hasUser) $hasPassword)) -}}
{{- fail "kafka.saslUsername (or secrets.KAFKA_SASL_USERNAME) and secrets.KAFKA_SASL_PASSWORD: expected both, because kafka.saslMechanism is set" -}}
{{- else if and (not .saslMechanism) (or .saslUsername $hasUser $hasPassword) -}}
{{- fail "kafka.saslMechanism: expected, because kafka.saslUsername or secrets.KAFKA_SASL_* is set" -}}
{{- end -}}
{{- end -}}
{{- with .Values.gateway -}}
{{- if and (eq (toString .processes) "auto") (not .resources.limits.cpu) -}}
{{- fail "gateway.processes: expected a number, or gateway.resources.limits.cpu, because auto would take all cores of the node" -}}
{{- end -}}
{{- end -}}
{{- with .Values.gateway.autoscaling -}}
{{- if lt (int .maxReplicas) (int .minReplicas) -}}
{{- fail "gateway.autoscaling.maxReplicas: expected at least minReplicas" -}}
{{- end -}}
{{- end -}}
{{- with .Values.graph -}}
{{- if gt (len (compact (list .path .files .configMap .volume))) 1 -}}
{{- fail "graph: expected at most one of path, files, configMap and volume" -}}
{{- end -}}
{{- end -}}
{{- $own := dict "ROLE" "mode" "GRAPH" "graph" "KAFKA_BROKERS" "kafka.brokers" "KAFKA_TLS" "kafka.tls" "KAFKA_SASL_MECHANISM" "kafka.saslMechanism" "KAFKA_GROUP_ID" "kafka.groupId" "KAFKA_DEAD_LETTER_TOPIC" "kafka.deadLetterTopic" "REDIS_URL" "redis.url or secrets.REDIS_URL" "CHANNEL_PREFIX" "redis.channelPrefix" "TUNABLES_FILE" "tunables" "PROCESSES" "gateway.processes" "DRAIN_DELAY_MS" "drain.delayMs" "DRAIN_SPREAD_MS" "drain.spreadMs" "KAFKA_SASL_USERNAME" "kafka.saslUsername" "KAFKA_SASL_PASSWORD" "secrets" "KAFKA_SASL_TOKEN_PROVIDER" "kafka.saslTokenProvider" "KAFKA_TLS_KEY_PASSPHRASE" "secrets" "SCHEMA_REGISTRY_USER" "secrets.SCHEMA_REGISTRY_URL" "SCHEMA_REGISTRY_PASSWORD" "secrets.SCHEMA_REGISTRY_URL" "SCHEMA_REGISTRY_HEADERS" "secrets" "REDIS_PASSWORD" "secrets" "REDIS_TLS_KEY_PASSPHRASE" "secrets" "ADMIN_TOKEN" "secrets" "JWT_SECRET" "secrets" "JWT_PUBLIC_KEY" "secrets" -}}
{{- range $name, $value := .Values.settings -}}
{{- if and (has $name (list "SCHEMA_REGISTRY_URL" "PROFILE_ON_EXIT")) (regexMatch "://[^/?#,]*@" (toString $value)) -}}
{{- fail (printf "settings.%s: expected a URL without user and password; use secrets" $name) -}}
{{- end -}}
{{- if hasKey $own $name -}}{{- fail (printf "settings.%s: use %s" $name (get $own $name)) -}}{{- end -}}
{{- if has $name (list "HOST" "PORT" "ADMIN_HOST" "ADMIN_PORT" "EMBEDDED" "SHUTDOWN_TIMEOUT_MS") -}}
{{- fail (printf "settings.%s: the chart's probes, ports and grace period depend on its default" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
