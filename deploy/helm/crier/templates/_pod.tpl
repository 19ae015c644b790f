{{/* Annotations, labels and specification of a role's pods. Takes the root, the role, and its values. */}}
{{- define "crier.pod" -}}
{{- $name := include "crier.name" .root -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    {{- include "crier.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    {{- /* Pods are replaced when the graph changes. Tunables are read again without a restart. */}}
    crier/graph: {{ $values.graph | toJson | sha256sum | trunc 16 | quote }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ $name }}
  automountServiceAccountToken: false
  {{- /* Variables such as REDIS_PORT of the namespace's Services would look like settings. */}}
  enableServiceLinks: false
  {{- /* Makes the pause container process 1: a process 1 ignores its own SIGKILL, with which the watchdog ends a blocked pod. */}}
  shareProcessNamespace: true
  terminationGracePeriodSeconds: {{ include "crier.gracePeriod" .root }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: crier
      image: {{ include "crier.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      ports:
        {{- if ne .role "worker" }}
        - { name: http, containerPort: 4000, protocol: TCP }
        {{- end }}
        - { name: admin, containerPort: 4001, protocol: TCP }
      env:
        {{- include "crier.environment" . | trim | nindent 8 }}
      {{- /* 120 s: a start that waits in vain for a Kafka that does not answer takes about 20 s. */}}
      startupProbe:
        httpGet: { path: /startupz, port: admin }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 2
        timeoutSeconds: 2
        {{- /* One slow answer of a busy pod is none. Of a pod that drains the Service knows from its deletion. */}}
        failureThreshold: 3
      {{- if $values.drain.preStopSleepSeconds }}
      lifecycle:
        preStop:
          sleep: { seconds: {{ $values.drain.preStopSleepSeconds }} }
      {{- end }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $values.secrets }}
        - { name: secrets, mountPath: /etc/crier/secrets, readOnly: true }
        {{- end }}
        {{- if $values.tunables }}
        - { name: tunables, mountPath: /etc/crier/tunables, readOnly: true }
        {{- end }}
        {{- if or $values.graph.files $values.graph.configMap $values.graph.volume }}
        - { name: graph, mountPath: /graph, readOnly: true }
        {{- end }}
        {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- with $values.secrets }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- range $setting, $secret := . }}
          - secret:
              name: {{ $secret.name }}
              items: [{ key: {{ $secret.key }}, path: {{ $setting }} }]
          {{- end }}
    {{- end }}
    {{- if $values.tunables }}
    - name: tunables
      configMap: { name: {{ $name }}-tunables }
    {{- end }}
    {{- with $values.graph }}
    {{- if .files }}
    - name: graph
      configMap: { name: {{ $name }}-graph }
    {{- else if .configMap }}
    - name: graph
      configMap: { name: {{ .configMap }} }
    {{- else if .volume }}
    - name: graph
      {{- toYaml .volume | nindent 6 }}
    {{- end }}
    {{- end }}
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - topologyKey: {{ . }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      matchLabelKeys: [pod-template-hash]
      labelSelector:
        matchLabels:
          {{- include "crier.selector" $.root | nindent 10 }}
          app.kubernetes.io/component: {{ $.role }}
    {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
