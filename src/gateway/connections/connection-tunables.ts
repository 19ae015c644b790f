import type { Logger } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { shareOf } from '../../config/processes.ts';
import type { TunablesRegistry } from '../../ops/tunables/tunables-registry.ts';
import type { AdmissionLimits } from './admission.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { UserLimits } from './users.ts';

interface TunableSettings {
  readonly config: Config;
  readonly tunables: TunablesRegistry;
}

/** Memory in bytes of each operation that a connection may have: its document, variables and channel names. */
const OPERATION_BYTES = 10_240;
/** Connections of one user that may all have as many operations as a connection may have. */
const FULL_CONNECTIONS = 10;

const MORE_THAN_FILES = 'is more than this process may have open files for; raise the limit of open files (ulimit -n)';

/** @param maxOpenFiles connections for which there are open files */
export function admissionLimits(
  { config, tunables, log }: TunableSettings & { readonly log: Logger },
  maxOpenFiles: number,
): AdmissionLimits {
  const limits = { maxConnections: 0, maxOpenFiles, maxHandshakesPerSecond: 0, maxHandshakeBurst: 1 };
  tunables.bind('MAX_CONNECTIONS', (connections) => {
    limits.maxConnections = shareOf(connections, config);
    if (limits.maxConnections > maxOpenFiles)
      log.warn(
        { setting: 'MAX_CONNECTIONS', sockets: maxOpenFiles },
        `${config.names.MAX_CONNECTIONS} ${MORE_THAN_FILES}`,
      );
  });
  tunables.bind('MAX_HANDSHAKES_PER_SECOND', (handshakes) => {
    limits.maxHandshakesPerSecond = shareOf(handshakes, config);
    limits.maxHandshakeBurst = 10 * limits.maxHandshakesPerSecond;
  });
  return limits;
}

export function userLimits({ config, tunables }: TunableSettings): UserLimits {
  return {
    maxConnections: config.MAX_CONNECTIONS_PER_USER,
    get maxOperations() {
      return FULL_CONNECTIONS * tunables.values.MAX_OPERATIONS_PER_CONNECTION;
    },
  };
}

export function connectionLimits({ config, tunables }: TunableSettings): ConnectionLimits {
  return Object.freeze({
    get maxOperations() {
      return tunables.values.MAX_OPERATIONS_PER_CONNECTION;
    },
    maxIdBytes: config.MAX_OPERATION_ID_BYTES,
    maxInitBytes: config.MAX_INIT_BYTES,
    maxMessageBytes: config.MAX_MESSAGE_BYTES,
    maxMessagesPerSecond: config.MAX_MESSAGES_PER_SECOND,
    maxMessageBurst: config.MAX_MESSAGE_BURST,
    maxPendingEvents: config.MAX_PENDING_EVENTS,
    get maxHeldBytes() {
      return Math.max(config.MAX_CONNECTION_BYTES, OPERATION_BYTES * tunables.values.MAX_OPERATIONS_PER_CONNECTION);
    },
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    maxAgeMs: config.MAX_CONNECTION_AGE_MS,
  });
}
