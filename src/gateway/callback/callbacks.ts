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
import { BEGUN, OFF, badCallback } from './callback-replies.ts';
import { callbackRequestOf } from './callback-request.ts';
import type { CallbackRequest } from './callback-request.ts';
import { CallbackSubscriber, REPLACED } from './callback-subscriber.ts';
import type { CallbackSubscriberServices } from './callback-subscriber.ts';

export interface CallbacksOptions
  extends Omit<StreamAdmissionOptions, 'onRefused'>, CallbackSubscriberServices, CallbackOriginOptions {
  /** Where URLs of callbacks may begin; none: the protocol is off. */
  readonly prefixes: readonly string[];
  readonly onRefused: (reason: Parameters<StreamAdmissionOptions['onRefused']>[0] | 'callback') => void;
}

/** Subscriptions of routers over the HTTP callback protocol (`callback/1.0`): a request begins one, and its results are posted to a URL. */
export class Callbacks implements EndpointCallbacks {
  readonly #options: CallbacksOptions;
  readonly #admission: StreamAdmission;
  readonly #origins = new Map<string, CallbackOrigin>();
  /** Confirmed and not ended, by URL and id. */
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
    if (prefixes.length === 0) return OFF;
    const { subscription: extension, ...others } = extensions ?? {};
    const asked = callbackRequestOf(extension, prefixes, limits.maxIdBytes);
    if (typeof asked === 'string') {
      onRefused('callback');
      return badCallback(asked);
    }
    const { request, response, address, begunAt } = exchange;
    const refusal = this.#admission.refusalAt(request, address);
    if (refusal) return refusal;
    const origin = this.#originOf(asked.url);
    const subscriber = this.#admission.admit(exchange, begunAt, () => this.#create(asked, exchange, origin));
    if (isReply(subscriber)) {
      this.#leave(origin);
      return subscriber;
    }
    const unconfirmed = await subscriber.confirm();
    if (unconfirmed) return unconfirmed;
    this.#replace(asked, subscriber);
    whenReplied(request, response, () => {
      if (response.writableFinished) void subscriber.begin({ ...payload, extensions: others });
      else subscriber.leaveSilently(CLIENT_LEFT_CODE, '');
    });
    return request.socket.destroyed ? CLIENT_LEFT : BEGUN;
  }

  #create(asked: CallbackRequest, exchange: StreamRequestExchange, origin: CallbackOrigin): CallbackSubscriber {
    const onLeft = () => {
      if (this.#live.get(keyOf(asked)) === subscriber) this.#live.delete(keyOf(asked));
      this.#leave(origin);
    };
    const subscriber: CallbackSubscriber = new CallbackSubscriber(exchange, asked, origin, this.#options, onLeft);
    return subscriber;
  }

  /** A router that has restarted, or lost its subscription, subscribes again with the same id: it must not get each event twice. */
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

function keyOf({ url, id }: CallbackRequest): string {
  return `${url.href} ${id}`;
}
