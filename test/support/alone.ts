/**
 * Test files that need a process of their own, with the reason. All others share a few processes, which load the modules of `src` once.
 */
export const ALONE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'bounds on the memory of the process': [
      'graph/context/connection-facts',
      'graph/context/execution-requests',
      'gateway/fanout/outbox/outbox',
      'gateway/fanout/sharing/renewal',
      'gateway/fanout/sharing/sharing',
      'bus/flow/sender',
      'graph/documents/document-cache',
      'gateway/identity/remote-key-set',
      'kafka/client/fetching/inflate',
      'ops/memory/heap-limit',
      'ops/memory/memory-guard',
      'ops/memory/pretenuring',
      'ops/metrics/process-metrics',
      'ops/profiling/life-profile',
      'ops/profiling/profiling-routes',
      'gateway/websocket/churn',
      'gateway/websocket/compression',
      'gateway/websocket/conformance',
      'gateway/websocket/held-memory',
      'gateway/websocket/refused-inits',
    ],
    'counts timers, servers or files of the process': [
      'gateway/connections/init-deadlines',
      'graph/context/backends',
      'gateway/http/graphiql',
      'kafka/client/patches/idle-timer',
      'server/server',
    ],
    'emits signals and messages of the process': ['ops/processes/starter'],
    'removes a patch of a package': ['faults/kafka-failover'],
    'takes the CPU time of the process as its clock': [
      'graph/documents/document-queue',
      'graph/execution/compile-queue',
    ],
  }).flatMap(([reason, files]) => files.map((file) => [file, reason] as const)),
);
