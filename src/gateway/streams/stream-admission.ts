import type { IncomingMessage } from 'node:http';
import type { Response } from 'graphql-http';
import { keptTextBytes } from '../../graph/context/connection-facts.ts';
import type { ConnectionRefusal } from '../connections/connections.ts';
import { headerBytes } from '../connections/handshake-headers.ts';
import type { UserConnection } from '../connections/users.ts';
import type { StreamRequestExchange } from '../http/endpoint-streams.ts';
import { refusalReply } from '../http/refusal-reply.ts';
import type { Authenticated } from '../identity/authenticator.ts';
import type { HttpStreamServices } from './http-stream-services.ts';
import { CLIENT_LEFT, CONNECTION_REFUSALS, USER_REFUSAL, longHeaders } from './stream-refusals.ts';

export interface StreamAdmissionOptions extends HttpStreamServices {
  readonly onRefused: (reason: ConnectionRefusal | 'headers') => void;
}

/** Decides which requests may open a connection. */
export class StreamAdmission {
  readonly #options: StreamAdmissionOptions;

  constructor(options: StreamAdmissionOptions) {
    this.#options = options;
  }

  /** The reply to a request that the pod or a limit of the client refuses; undefined: none does. Takes a handshake from the rate limit. */
  refusalAt(request: IncomingMessage, address: string): Response | undefined {
    const refused = this.headersRefusal(request);
    if (refused) return refused;
    const refusal = this.#options.connections.refusalOf(request, address);
    return refusal && this.#refusedBy(refusal);
  }

  /** As `refusalAt`, without the rate limit. */
  limitRefusal(request: IncomingMessage, address: string): Response | undefined {
    const limit = this.#options.connections.limitFor(request, address);
    return limit && this.#refusedBy(limit);
  }

  headersRefusal({ rawHeaders }: IncomingMessage): Response | undefined {
    return this.#bytesRefusal(headerBytes(rawHeaders));
  }

  factsRefusal({ facts }: Authenticated): Response | undefined {
    return this.#bytesRefusal(keptTextBytes(facts));
  }

  /** Returns the connection, which counts for its user from now on, or the reply to a client that may have none. */
  admit<C extends UserConnection & { readonly subject: string | undefined; readonly isRouter: boolean }>(
    exchange: StreamRequestExchange,
    begunAt: number,
    create: () => C,
  ): C | Response {
    const { request, identity, address } = exchange;
    const { authenticator, users, onRefusedUser } = this.#options;
    // Its close was emitted already, so nothing would end the connection.
    if (request.socket.destroyed) return CLIENT_LEFT;
    const failure = authenticator.failureOf(identity, begunAt);
    if (failure) return refusalReply(failure);
    const refusal = this.limitRefusal(request, address) ?? this.factsRefusal(identity);
    if (refusal) return refusal;
    const connection = create();
    const { subject, isRouter } = connection;
    if (subject === undefined || isRouter || users.add(subject, connection)) return connection;
    onRefusedUser();
    return USER_REFUSAL;
  }

  #refusedBy(refusal: ConnectionRefusal): Response {
    this.#options.onRefused(refusal);
    return CONNECTION_REFUSALS[refusal];
  }

  #bytesRefusal(bytes: number): Response | undefined {
    const { maxInitBytes } = this.#options.limits;
    if (bytes <= maxInitBytes) return undefined;
    this.#options.onRefused('headers');
    return longHeaders(maxInitBytes);
  }
}

export function isReply(value: object): value is Response {
  return Array.isArray(value);
}
