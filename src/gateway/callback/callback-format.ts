import type { GraphQLFormattedError } from 'graphql';
import { clientError } from '../../base/errors.ts';
import type { MessageFormat } from '../connections/message-format.ts';
import { ownBytes } from '../fanout/outbox/frame.ts';
import type { CallbackRequest } from './callback-request.ts';

/**
 * The bodies of posts to one callback, in the protocol `callback/1.0`
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/callback-protocol).
 */
export class CallbackFormat implements MessageFormat {
  readonly hasFrames = false;
  /** A result closes the message around it, as on the WebSocket: subscribers of both share its bytes. */
  readonly endResult = undefined;
  readonly #facts: string;

  constructor({ id, verifier }: Pick<CallbackRequest, 'id' | 'verifier'>) {
    this.#facts = `"id":${JSON.stringify(id)},"verifier":${JSON.stringify(verifier)}`;
  }

  /** Asks whether the router still has the subscription. */
  get check(): string {
    return `${this.#start('check')}}`;
  }

  prefixOf(): Buffer {
    return ownBytes(`${this.#start('next')},"payload":`);
  }

  next(_id: string, payload: object): string {
    return `${this.#start('next')},"payload":${JSON.stringify(payload)}}`;
  }

  error(_id: string, errors: readonly GraphQLFormattedError[]): string {
    return `${this.#start('complete')},"errors":${JSON.stringify(errors)}}`;
  }

  complete(): string {
    return `${this.#start('complete')}}`;
  }

  /** The end of a subscription that the server closes. @param code as on the WebSocket */
  closing(code: number, reason: string): string {
    const error = clientError('STREAM_CLOSED', reason || 'The subscription is closed', { closeCode: code });
    return this.error('', [error.toJSON()]);
  }

  #start(action: 'check' | 'next' | 'complete'): string {
    return `{"kind":"subscription","action":"${action}",${this.#facts}`;
  }
}
