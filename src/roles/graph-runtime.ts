import type { Backends } from '../context/backends.ts';
import { TriggerChannels } from '../context/pubsub/trigger-channels.ts';
import type { Publish } from '../context/publishing.ts';
import { SharingAudit } from '../fanout/sharing/sharing-audit.ts';
import type { StateCompleteness } from '../fanout/state-completeness.ts';
import type { RequestedDocuments } from '../graph/documents/requested-documents.ts';
import { CompileQueue } from '../graph/execution/compile-queue.ts';
import type { Executions } from '../graph/execution/executions.ts';
import { Executor } from '../graph/execution/executor.ts';
import { GraphRuntime } from '../graph/runtime.ts';
import type { RoleServices } from './services.ts';

/** What the gateway opens for its runtime. */
export interface RuntimePorts {
  readonly backends: Backends;
  readonly publish: Publish;
  /** Of a channel with a state; undefined: all are complete. */
  readonly isStateComplete: StateCompleteness['isComplete'] | undefined;
}

export function createRuntime(
  { bus, config, graph, log, metrics }: RoleServices,
  documents: RequestedDocuments,
  { backends, publish, isStateComplete }: RuntimePorts,
  executions: Executions,
): GraphRuntime {
  const triggers = new TriggerChannels({
    bus,
    prefix: config.CHANNEL_PREFIX,
    maxChannelBytes: config.MAX_CHANNEL_BYTES,
    maxMessageBytes: config.MAX_RECORD_BYTES,
    log,
    onUnrecognisedMessage: () => metrics.unrecognisedMessages.inc(),
  });
  metrics.gauge('crier_pubsub_triggers', 'Triggers of context.pubsub that operations listen to.', () => triggers.size);
  return new GraphRuntime({
    graph,
    triggers,
    documents,
    executor: new Executor(graph.schema, {
      jitAfterUses: config.JIT_AFTER_USES,
      hasProjection: config.PROJECTION,
      onCompile: (outcome) => metrics.compilations.inc({ outcome }),
      compileLater: new CompileQueue().add,
    }),
    executions,
    backends,
    publish,
    states: { history: (channel, query) => bus.history(channel, query), isComplete: isStateComplete },
    hasSharing: config.SHARING,
    channelPrefix: config.CHANNEL_PREFIX,
    limits: {
      maxVariableBytes: config.MAX_VARIABLES_BYTES,
      maxVariableDepth: config.MAX_VARIABLES_DEPTH,
      maxVariableValues: config.MAX_VARIABLES_VALUES,
      maxChannelBytes: config.MAX_CHANNEL_BYTES,
      maxChannels: config.MAX_OPERATION_CHANNELS,
    },
    log,
    onInternalError: () => metrics.internalErrors.inc(),
  });
}

/** undefined: no result is shared, so none is audited. */
export function createAudit(
  { config, tunables, log, metrics }: RoleServices,
  runtime: GraphRuntime,
): SharingAudit | undefined {
  if (!config.SHARING) return undefined;
  const audit = new SharingAudit({
    share: config.SHARING_AUDIT,
    resolverPaths: (operation) => runtime.resolverPaths(operation),
    log,
    onOutcome: (outcome) => metrics.sharingAudit.inc({ outcome }),
  });
  tunables.bind('SHARING_AUDIT', (share) => (audit.share = share));
  return audit;
}
