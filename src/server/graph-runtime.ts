import type { Backends } from '../graph/context/backends.ts';
import { TriggerChannels } from '../graph/context/pubsub/trigger-channels.ts';
import type { ChannelObserver } from '../gateway/fanout/channel-services.ts';
import { sharingAuditCount } from '../gateway/fanout/fanout-metrics.ts';
import type { Publish } from '../graph/context/publishing.ts';
import { tuneAudit } from '../gateway/fanout/fanout-tunables.ts';
import { SharingAudit } from '../gateway/fanout/sharing/sharing-audit.ts';
import type { StateCompleteness } from '../gateway/fanout/state-completeness.ts';
import type { RequestedDocuments } from '../graph/documents/requested-documents.ts';
import { CompileQueue } from '../graph/execution/compile-queue.ts';
import type { Executions } from '../graph/execution/executions.ts';
import { Executor } from '../graph/execution/executor.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { observeTriggers } from '../graph/runtime-metrics.ts';
import type { RuntimeCounts } from '../graph/runtime-metrics.ts';
import { GraphRuntime } from '../graph/runtime.ts';
import type { OperationRunner } from '../graph/operation-runner.ts';
import type { RoleServices } from './services.ts';

/** What the runtimes of all graphs use. */
export interface RuntimePorts {
  readonly backends: Backends;
  readonly publish: Publish;
  readonly triggers: TriggerChannels;
  readonly executions: Executions;
}

/** What a graph's runtime has for itself. */
export interface GraphOwn {
  readonly graph: Graph;
  readonly generation: number;
  readonly counts: RuntimeCounts;
  readonly documents: RequestedDocuments;
  /** Of a channel with a state; undefined: all are complete. */
  readonly isStateComplete: StateCompleteness['isComplete'] | undefined;
}

/** The triggers of `context.pubsub`, which outlive a graph. */
export function createTriggers(
  { bus, config, log, metrics }: RoleServices,
  channels: ChannelObserver,
): TriggerChannels {
  const triggers = new TriggerChannels({
    bus,
    prefix: config.CHANNEL_PREFIX,
    maxChannelBytes: config.MAX_CHANNEL_BYTES,
    maxMessageBytes: config.MAX_RECORD_BYTES,
    log,
    names: config.names,
    onUnrecognisedMessage: () => channels.onUnrecognisedMessage(),
  });
  observeTriggers(metrics, triggers);
  return triggers;
}

export function createRuntime(
  { bus, config, tunables, log }: RoleServices,
  ports: RuntimePorts,
  { graph, generation, counts, documents, isStateComplete }: GraphOwn,
): GraphRuntime {
  return new GraphRuntime({
    ...ports,
    graph,
    generation,
    documents,
    executor: new Executor(graph.schema, {
      jitAfterUses: config.JIT_AFTER_USES,
      hasProjection: config.PROJECTION,
      onCompile: (outcome) => counts.compilations.inc({ outcome }),
      compileLater: new CompileQueue().add,
    }),
    states: { history: (channel, query) => bus.history(channel, query), isComplete: isStateComplete },
    hasSharing: config.SHARING,
    channelPrefix: config.CHANNEL_PREFIX,
    limits: {
      maxVariableBytes: config.MAX_VARIABLES_BYTES,
      maxVariableDepth: config.MAX_VARIABLES_DEPTH,
      maxVariableValues: config.MAX_VARIABLES_VALUES,
      maxChannelBytes: config.MAX_CHANNEL_BYTES,
      /** A subscription that reads several channels costs as much as as many operations. */
      get maxChannels() {
        return tunables.values.MAX_OPERATIONS_PER_CONNECTION;
      },
    },
    log,
    onInternalError: () => counts.internalErrors.inc(),
  });
}

/** undefined: no result is shared, so none is audited. */
export function createAudit(
  { config, tunables, log, metrics }: RoleServices,
  runtime: Pick<OperationRunner, 'resolverPaths'>,
): SharingAudit | undefined {
  const audits = sharingAuditCount(metrics);
  if (!config.SHARING) return undefined;
  const audit = new SharingAudit({
    share: config.SHARING_AUDIT,
    resolverPaths: (operation) => runtime.resolverPaths(operation),
    log,
    onOutcome: (outcome) => audits.inc({ outcome }),
  });
  tuneAudit(tunables, audit);
  return audit;
}
