import type { Config } from '../../config/config.ts';
import { shareOf } from '../../config/processes.ts';
import type { TunablesRegistry } from '../../ops/tunables/tunables-registry.ts';
import type { Writer } from './outbox/writer.ts';
import type { SharingAudit } from './sharing/sharing-audit.ts';

/** Executions of events that may be in flight in this process. */
export function maxExecutionsOf(tunables: TunablesRegistry, config: Config): () => number {
  let max = 0;
  tunables.bind('MAX_EXECUTIONS', (executions) => (max = shareOf(executions, config)));
  return () => max;
}

export function tuneWriter(tunables: TunablesRegistry, writer: Writer, config: Config): void {
  tunables.bind('MAX_QUEUE_BYTES', (bytes) => (writer.maxQueueBytes = bytes));
  tunables.bind('MAX_POD_QUEUE_BYTES', (bytes) => (writer.maxPodQueueBytes = shareOf(bytes, config)));
}

export function tuneAudit(tunables: TunablesRegistry, audit: SharingAudit): void {
  tunables.bind('SHARING_AUDIT', (share) => (audit.share = share));
}
