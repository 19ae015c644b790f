import type { ClientConnectionServices, Ending } from '../connections/client-connection.ts';
import type { Writer } from '../fanout/outbox/writer.ts';
import type { IdentityServices } from './connection-identity.ts';
import type { ConnectionSocket } from './connection-socket.ts';
import type { SocketFormat } from './socket-format.ts';
import type { Inbox } from './inbox.ts';
import type { KeptWindows } from './kept-windows.ts';
import type { DeadlineOwner, InitDeadlines } from '../connections/init-deadlines.ts';

/** Shared by all connections of a gateway. `C`: their class. */
export interface ConnectionServices<C extends DeadlineOwner> extends ClientConnectionServices, IdentityServices {
  readonly writer: Writer;
  /** By the sub-protocol and the compression that the socket agreed on. */
  readonly formatOf: (socket: Pick<ConnectionSocket, 'protocol' | 'compression'>) => SocketFormat;
  readonly initDeadlines: InitDeadlines<C>;
  readonly inbox: Inbox;
  readonly keptWindows: KeptWindows;
  /** Called when the token of an open connection has made it a router's, or a client's again. */
  readonly onRouterChanged: (connection: C) => void;
  /** Called when the socket has closed. */
  readonly onClose: (connection: C, ending: Ending) => void;
}
