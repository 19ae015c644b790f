import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Response } from 'graphql-http';
import type { TrustedProxies } from '../../config/addresses/client-address.ts';
import type { Authenticated, Authenticator } from '../identity/authenticator.ts';
import type { Routers } from '../connections/routers.ts';
import { limitReply, refusalReply } from './refusal-reply.ts';
import type { AdmittedRequest, RequestLimit } from './request-admission.ts';

export interface RequestIdentitiesOptions {
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'authenticateAgain' | 'graphs'>;
  readonly proxies: TrustedProxies;
  readonly routers: Pick<Routers, 'hasToken'>;
  readonly onRefused: (limit: RequestLimit) => void;
}

/** Authenticates requests, and charges each to its user. A reply refuses the request. */
export class RequestIdentities {
  readonly #options: RequestIdentitiesOptions;

  constructor(options: RequestIdentitiesOptions) {
    this.#options = options;
  }

  /** A token that is not accepted names no user, so its request is charged to the address, as is a router's that is revoked. A router's is charged to nobody else. */
  async authenticate(
    request: IncomingMessage,
    address: string,
    admitted: AdmittedRequest,
  ): Promise<Authenticated | Response> {
    const { authenticator, proxies, routers } = this.#options;
    const { rawHeaders } = request;
    const source = { id: randomUUID(), rawHeaders, params: {}, address };
    let isRouter = false;
    const identity = await authenticator.authenticate(source, (token) => {
      isRouter = routers.hasToken(token?.claims);
      return (isRouter || admitted.charge(token?.subject)) && !request.socket.destroyed;
    });
    if ('facts' in identity) {
      if (isRouter) admitted.exempt();
      return identity;
    }
    // The same for all users while the keys cannot be fetched, so it says nothing about an address.
    if (identity.failure === 'keys_unavailable') return refusalReply(identity.failure);
    admitted.charge(undefined);
    const { limit } = admitted;
    if (limit === undefined) return refusalReply(identity.failure);
    if (limit.startsWith('address')) proxies.onAddressRefused(request);
    return this.refusedBy(limit);
  }

  /** Also of the graph that is served now: the body may have taken a while. @param graphs when its authentication began */
  async authenticateAgain(known: Authenticated, graphs: number): Promise<Authenticated | Response> {
    const { authenticator } = this.#options;
    if (graphs === authenticator.graphs) return known;
    const identity = await authenticator.authenticateAgain(known);
    return 'facts' in identity ? identity : refusalReply(identity.failure);
  }

  /** The identity of a reserved stream is that of its requests, too. */
  charge(identity: Authenticated, admitted: AdmittedRequest): Authenticated | Response {
    if (this.#options.routers.hasToken(identity.token)) admitted.exempt();
    admitted.charge(identity.subject);
    return admitted.limit === undefined ? identity : this.refusedBy(admitted.limit);
  }

  refusedBy(limit: RequestLimit): Response {
    this.#options.onRefused(limit);
    return limitReply(limit);
  }
}
