import type { Response } from 'graphql-http';
import type { SubscribePayload } from 'graphql-ws';
import { whenReplied } from '../http/reply-end.ts';
import type { EndpointCallbacks, StreamRequestExchange } from '../http/endpoint-streams.ts';
import { StreamAdmission, isReply } from '../streams/stream-admission.ts';
import type { StreamAdmissionOptions } from '../streams/stream-admission.ts';
import { CLIENT_LEFT } from '../streams/stream-refusals.ts';
import { CLIENT_LEFT_CODE } from '../streams/request-connection.ts';
import { CallbackOrigin } from './callback-origin.ts';
import type { CallbackOriginOptions } from './callback-origin.ts';
import { BEGUN, NO_ROUTER, TOO_MANY_CHECKS, badCallback } from './callback-replies.ts';
import { callbackRequestOf } from './callback-request.ts';
import type { CallbackRequest } from './callback-request.ts';
import { CallbackSubscriber, REPLACED } from './callback-subscriber.ts';
import type { CallbackSubscriberServices } from './callback-subscriber.ts';

export interface CallbacksOptions
  extends Omit<StreamAdmissionOptions, 'onRefused'>, CallbackSubscriberServices, CallbackOriginOptions {
  /** Where URLs of callbacks may begin. */
  readonly prefixes: readonly string[];
  readonly onRefused: (
    reason: Parameters<StreamAdmissionOptions['onRefused']>[0] | 'callback' | 'callback_checks',
  ) => void;
}

/**
 * Subscribers of a pod whose routers have not confirmed them: their checks take turns with the results of others, and hold their requests. All
 * clients of a router may come back at once.
 */
const MAX_UNCONFIRMED = 500;

/** Subscriptions of routers over the HTTP callback protocol (`callback/1.0`): a request begins one, and its results are posted to a URL. */
export class Callbacks implements EndpointCallbacks {
  readonly #options: CallbacksOptions;
  readonly #admission: StreamAdmission;
  readonly #origins = new Map<string, CallbackOrigin>();
  /** Those that count among MAX_UNCONFIRMED. */
  readonly #unconfirmed = new Set<CallbackSubscriber>();
  /** Confirmed and not ended, by URL, verifier and id. */
  readonly #live = new Map<string, CallbackSubscriber>();

  constructor(options: CallbacksOptions) {
    this.#options = options;
    this.#admission = new StreamAdmission(options);
  }

  /** Subscriptions that routers have confirmed. */
  get size(): number {
    return this.#live.size;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#origins.values(), (origin) => origin.close()));
  }

  async open({ extensions, ...payload }: SubscribePayload, exchange: StreamRequestExchange): Promise<Response> {
    const { prefixes, limits, onRefused } = this.#options;
    if (!this.#mayAsk(exchange)) {
      onRefused('callback');
      return NO_ROUTER;
    }
    const { subscription: extension, ...others } = extensions ?? {};
    const asked = callbackRequestOf(extension, prefixes, limits.maxIdBytes);
    if (typeof asked === 'string') {
      onRefused('callback');
      return badCallback(asked);
    }
    const subscriber = this.#admit(asked, exchange);
    if (isReply(subscriber)) return subscriber;
    const { request, response } = exchange;
    // Before the check: the client may leave while the router answers it.
    whenReplied(request, response, () => {
      if (response.writableFinished) void subscriber.begin({ ...payload, extensions: others });
      else subscriber.leaveSilently(CLIENT_LEFT_CODE, '');
    });
    const refusal = await subscriber.confirm();
    if (refusal) return refusal;
    this.#unconfirmed.delete(subscriber);
    this.#replace(asked, subscriber);
    return request.socket.destroyed ? CLIENT_LEFT : BEGUN;
  }

  /** True for a router, and for every client while ROUTERS names none. */
  #mayAsk({ request, address, identity }: StreamRequestExchange): boolean {
    const { routers } = this.#options;
    return routers.isEmpty || routers.hasSent(request, address) || routers.hasToken(identity.token);
  }

  #admit(asked: CallbackRequest, exchange: StreamRequestExchange): CallbackSubscriber | Response {
    if (this.#unconfirmed.size >= MAX_UNCONFIRMED) {
      this.#options.onRefused('callback_checks');
      return TOO_MANY_CHECKS;
    }
    const { request, address, begunAt } = exchange;
    const refusal = this.#admission.refusalAt(request, address);
    if (refusal) return refusal;
    const origin = this.#originOf(asked.url);
    const subscriber = this.#admission.admit(exchange, begunAt, () => this.#create(asked, exchange, origin));
    if (isReply(subscriber)) this.#leave(origin);
    else this.#unconfirmed.add(subscriber);
    return subscriber;
  }

  #create(asked: CallbackRequest, exchange: StreamRequestExchange, origin: CallbackOrigin): CallbackSubscriber {
    const onLeft = () => {
      this.#unconfirmed.delete(subscriber);
      if (this.#live.get(keyOf(asked)) === subscriber) this.#live.delete(keyOf(asked));
      this.#leave(origin);
    };
    const subscriber: CallbackSubscriber = new CallbackSubscriber(exchange, asked, origin, this.#options, onLeft);
    return subscriber;
  }

  /** A router that has lost its subscription subscribes again with the same id and verifier: it must not get each event twice. */
  #replace(asked: CallbackRequest, subscriber: CallbackSubscriber): void {
    const key = keyOf(asked);
    const former = this.#live.get(key);
    this.#live.set(key, subscriber);
    former?.leaveSilently(CLIENT_LEFT_CODE, REPLACED);
  }

  #originOf({ origin }: URL): CallbackOrigin {
    const known = this.#origins.get(origin) ?? new CallbackOrigin(origin, this.#options);
    this.#origins.set(origin, known);
    known.users++;
    return known;
  }

  /** The last subscriber closes the connections: names of routers come and go. */
  #leave(origin: CallbackOrigin): void {
    if (--origin.users > 0) return;
    this.#origins.delete(origin.name);
    void origin.close();
  }
}

/** The verifier is a secret of the router, so that no other client can end its subscription. */
function keyOf({ url, id, verifier }: CallbackRequest): string {
  return JSON.stringify([url.origin, url.pathname, url.search, verifier, id]);
}
