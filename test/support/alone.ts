/**
 * Test files that need a process of their own, with the reason. All others share a few processes, which load the modules of `src` once.
 */
export const ALONE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'bounds on the memory of the process': [
      'context/connection-facts',
      'context/execution-requests',
      'fanout/outbox/outbox',
      'fanout/sharing/renewal',
      'fanout/sharing/sharing',
      'flow/sender',
      'graph/documents/document-cache',
      'identity/remote-key-set',
      'kafka/kafkajs/codecs',
      'memory/heap-limit',
      'memory/memory-guard',
      'memory/pretenuring',
      'metrics/process-metrics',
      'profiling/life-profile',
      'profiling/profiling-routes',
      'websocket/churn',
      'websocket/compression',
      'websocket/conformance',
      'websocket/held-memory',
      'websocket/refused-inits',
    ],
    'counts timers, servers or files of the process': [
      'connections/init-deadlines',
      'context/backends',
      'http/graphiql',
      'kafka/kafkajs/idle-timer',
      'server',
    ],
    'emits signals and messages of the process': ['processes/starter'],
    'removes a patch of a package': ['faults/kafka-failover'],
    'takes the CPU time of the process as its clock': [
      'graph/documents/document-queue',
      'graph/execution/compile-queue',
    ],
  }).flatMap(([reason, files]) => files.map((file) => [file, reason] as const)),
);
