import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { MessageType } from 'graphql-ws';
import type { SubscribePayload } from 'graphql-ws';
import { ClientConnection } from '../connections/client-connection.ts';
import type { Carrier } from '../connections/client-connection.ts';
import { refusalClose } from '../connections/refusal-close.ts';
import { weightOfFacts } from '../../graph/context/connection-facts.ts';
import type { Authenticated } from '../identity/authenticator.ts';
import type { KnownClaims } from '../identity/revocation.ts';
import type { HttpStreamServices } from './http-stream-services.ts';

/** Whom a request is from. */
export interface Requester {
  readonly request: IncomingMessage;
  readonly identity: Authenticated;
  readonly address: string;
}

/** The id of the operation of a connection that has one. */
export const ONLY_OPERATION = '';
/** The normal close code: the operation of the connection is over. */
export const COMPLETED = 1000;
/** No close frame tells why a client has left. */
export const CLIENT_LEFT_CODE = 1005;

/** A connection that an HTTP request has opened and authenticated. What a WebSocket's `Connection` is, without messages of the client. */
export abstract class RequestConnection<Stream extends Carrier> extends ClientConnection<HttpStreamServices, Stream> {
  readonly address: string;
  #identity: Authenticated;
  /** True: it ends with its operation. */
  readonly #isOfOne: boolean;

  constructor(stream: Stream, requester: Requester, isOfOne: boolean, services: HttpStreamServices) {
    const { request, identity, address } = requester;
    super(stream, services, services.routers.hasSent(request, address));
    this.adoptToken(identity.token);
    this.address = address;
    this.#identity = identity;
    this.#isOfOne = isOfOne;
  }

  get id(): string {
    return this.#identity.facts.id;
  }

  /** Whom its token names; undefined: nobody, or it has none. */
  get subject(): string | undefined {
    return this.#identity.subject;
  }

  get knownClaims(): KnownClaims {
    return { claims: this.#identity.facts.claims, token: this.#identity.token };
  }

  /** 0: it has no token. */
  get tokenExpiresAtMs(): number {
    return this.#identity.expiresAtMs ?? 0;
  }

  /** Its facts count, too. */
  override get heldBytes(): number {
    return super.heldBytes + weightOfFacts(this.#identity.facts);
  }

  /** Starts an operation whose id is free, on a connection that is not leaving. Resolves when it is live or has ended. */
  async start(id: string, payload: SubscribePayload): Promise<void> {
    const { users } = this.services;
    const isLimited = this.subject !== undefined && !this.isRouter;
    const refusal = isLimited ? users.operationRefusal(this.subject) : undefined;
    if (this.isEnded) return;
    if (refusal === undefined) {
      await this.operations.start({ id, type: MessageType.Subscribe, payload }, this.#identity.facts);
    } else {
      this.operations.refuse(id, refusal);
      this.onOperationOver();
    }
  }

  override onOperationOver(): void {
    if (this.isLeaving || !this.#isOfOne) super.onOperationOver();
    else this.end(COMPLETED);
  }

  override onSlowConsumer(): void {
    super.onSlowConsumer('results');
  }

  /** The claims change, and nothing else of the identity. */
  async authenticateAgain(): Promise<void> {
    const outcome = await this.services.authenticator.authenticateAgain(this.#identity);
    if (this.isEnded) return;
    if ('failure' in outcome) return this.close(...refusalClose(outcome.failure));
    if (isDeepStrictEqual(this.#identity.facts.claims, outcome.facts.claims)) return;
    this.#identity = outcome;
    this.operations.renew(outcome.facts);
  }

  protected joinServices(): void {
    const { connections } = this.services;
    connections.add(this);
    if (this.tokenExpiresAtMs > 0) connections.tokenExpiries.add(this);
  }

  protected leaveServices(): void {
    const { connections, users } = this.services;
    connections.tokenExpiries.delete(this);
    if (this.subject !== undefined) users.delete(this.subject, this);
  }
}
