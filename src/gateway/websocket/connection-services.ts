import type { Ending } from '../connections/connections.ts';
import type { MessageFormat } from '../fanout/outbox/message-format.ts';
import type { Writer } from '../fanout/outbox/writer.ts';
import type { Logger } from '../../base/log.ts';
import type { IdentityServices } from './connection-identity.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { CompressionParameters } from './compression.ts';
import type { Inbox } from './inbox.ts';
import type { DeadlineOwner, InitDeadlines } from '../connections/init-deadlines.ts';
import type { LiveOperationServices } from '../operations/live-operation-services.ts';

/** Shared by all connections of a gateway. `C`: their class. */
export interface ConnectionServices<C extends DeadlineOwner> extends LiveOperationServices, IdentityServices {
  readonly limits: ConnectionLimits;
  readonly writer: Writer;
  /** Of a connection that agreed on this compression; undefined: on none. */
  readonly formatOf: (compression: CompressionParameters | undefined) => MessageFormat;
  readonly initDeadlines: InitDeadlines<C>;
  readonly inbox: Inbox;
  readonly log: Logger;
  readonly onSlowConsumer: () => void;
  /** Called for each connection that is closed because its token expired. */
  readonly onTokenExpired: () => void;
  /** Called when the socket has closed. */
  readonly onClose: (connection: C, ending: Ending) => void;
}
