import type { ResultBytes } from '../../../src/gateway/fanout/outbox/frame.ts';
import { WaitLists } from '../../../src/gateway/fanout/outbox/wait-list.ts';
import type { SubscriptionOptions } from '../../../src/gateway/fanout/subscription.ts';
import { CatchUp } from '../../../src/gateway/streams/catch-up.ts';

/** The reply to one request for what was missed after a cursor, without HTTP. It waits for an event if none was. */
export class CatchUpReply {
  readonly format: CatchUp;
  /** True: its client has every event so far. */
  isCaughtUp = false;
  /** Of the next request; undefined: the reply has not ended. */
  nextCursor: string | undefined;
  readonly #cursor: string;
  #text: string;
  #onEvent: (event: object) => void = () => undefined;

  /** @param cursor of the last event that its client has */
  constructor(cursor: string) {
    this.#cursor = cursor;
    this.format = CatchUp.of({ query: '', extensions: { resume: { cursor, wait: 30 } } })!;
    this.#text = this.format.opening;
    this.format.onEnd = () => {
      this.format.close();
      const reply = JSON.parse(this.#text + this.format.closing(1000)) as { events: object[]; cursor: string };
      reply.events.forEach(this.#onEvent);
      this.nextCursor = reply.cursor;
    };
  }

  /**
   * What its results are sent to.
   * @param onEvent called for each event of the reply, once it has ended
   */
  outbox(onEvent: (event: object) => void): SubscriptionOptions['outbox'] {
    this.#onEvent = onEvent;
    const sendParts = (prefix: Buffer, { pieces }: ResultBytes) => {
      this.#text += Buffer.concat([prefix, ...pieces]).toString();
      return true;
    };
    const waits = new WaitLists();
    return {
      format: this.format,
      isBackpressured: false,
      isBehind: false,
      waitList: (wait) => waits[wait],
      passRoom: () => waits.wakeNext(),
      sendParts,
    };
  }

  /** What its subscription begins with. */
  get start() {
    const onCaughtUp: CatchUp['onCaughtUp'] = (...report) => {
      this.isCaughtUp = true;
      this.format.onCaughtUp(...report);
    };
    return { cursor: this.#cursor, replaysLast: false, hasHistory: true, onCaughtUp };
  }
}
