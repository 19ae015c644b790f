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
/** Factor by which the limits of a router exceed those of a browser. */
const BROWSERS_OF_ROUTER = 100;
/** A `subscribe` of so many times MAX_MESSAGE_BYTES is received, to be refused by its id. */
const RECEIVED_MESSAGES = 4;
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

export function connectionLimits(settings: TunableSettings): ConnectionLimits {
  return limitsOf(settings, 1);
}

/** Of a connection of a router. Documents, variables and ids have the limits of a browser's. */
export function routerLimits(settings: TunableSettings): ConnectionLimits {
  return limitsOf(settings, BROWSERS_OF_ROUTER);
}

function limitsOf({ config, tunables }: TunableSettings, browsers: number): ConnectionLimits {
  return Object.freeze({
    get maxOperations() {
      return browsers * tunables.values.MAX_OPERATIONS_PER_CONNECTION;
    },
    maxIdBytes: config.MAX_OPERATION_ID_BYTES,
    maxInitBytes: config.MAX_INIT_BYTES,
    maxMessageBytes: config.MAX_MESSAGE_BYTES,
    maxReceivedBytes: Math.max(RECEIVED_MESSAGES, browsers) * config.MAX_MESSAGE_BYTES,
    maxMessagesPerSecond: browsers * config.MAX_MESSAGES_PER_SECOND,
    maxMessageBurst: browsers * config.MAX_MESSAGE_BURST,
    maxPendingEvents: config.MAX_PENDING_EVENTS,
    get maxHeldBytes() {
      const bytes = OPERATION_BYTES * tunables.values.MAX_OPERATIONS_PER_CONNECTION;
      return browsers * Math.max(config.MAX_CONNECTION_BYTES, bytes);
    },
    get maxQueueBytes() {
      return browsers * tunables.values.MAX_QUEUE_BYTES;
    },
    documentShare: browsers,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    maxAgeMs: browsers === 1 ? config.MAX_CONNECTION_AGE_MS : 0,
  });
}
