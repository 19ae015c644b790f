import type { ClientConnectionServices } from '../connections/client-connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { Users } from '../connections/users.ts';
import type { Writer } from '../fanout/outbox/writer.ts';
import type { Authenticator } from '../identity/authenticator.ts';

/** Shared by all streams of a pod. */
export interface HttpStreamServices extends ClientConnectionServices {
  readonly authenticator: Pick<Authenticator, 'authenticateAgain' | 'failureOf'>;
  readonly connections: Connections;
  readonly users: Users;
  readonly writer: Writer;
  readonly onRefusedUser: () => void;
}
