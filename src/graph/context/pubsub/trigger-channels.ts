import { channelLabel, isPlain } from '../../../bus/channel.ts';
import type { Feed, Unsubscribe } from '../../../bus/feed.ts';
import type { Shared } from '../../../bus/shared.ts';
import { BusUnavailableError, clientError } from '../../../base/errors.ts';
import { parseFrozen } from '../../../base/json/frozen.ts';
import { LogWindow } from '../../../base/log.ts';
import type { SettingNames } from '../../../config/setting-names.ts';
import type { Logger } from '../../../base/log.ts';

export interface TriggerChannelsOptions {
  readonly bus: Pick<Feed, 'subscribe'> & Pick<Shared, 'send'>;
  /** Of crier's own channels, which no trigger reaches. */
  readonly prefix: string;
  /** Longest trigger. */
  readonly maxChannelBytes: number;
  /** Longest message of another program. */
  readonly maxMessageBytes: number;
  readonly log: Logger;
  readonly names: SettingNames;
  /** A message is not JSON or too long. */
  readonly onUnrecognisedMessage: () => void;
}

export interface TriggerListener {
  /** @param bytes length of the message */
  onPayload(payload: unknown, bytes: number): void;
  /** Payloads may have been missed. */
  onGap(): void;
}

export interface Listening {
  /** Resolves once every later payload reaches the listener. Rejects if the bus does not subscribe to the channel. */
  readonly acknowledged: Promise<void>;
  /** Idempotent and never throwing; after it returned the listener is not called again. */
  stop(): void;
}

interface TriggerChannel {
  readonly listeners: Set<TriggerListener>;
  readonly subscribed: Promise<Unsubscribe>;
}

const LOG_WINDOW_MS = 5_000;

/**
 * The triggers of all operations of this process: one subscription of the bus for each, and one parsed payload for all listeners.
 *
 * docs/why/story.md says why it is not the RedisPubSub of graphql-redis-subscriptions.
 */
export class TriggerChannels {
  readonly #options: TriggerChannelsOptions;
  /** By trigger. The entry is removed with the last listener. */
  readonly #channels = new Map<string, TriggerChannel>();
  readonly #logWindow = new LogWindow(LOG_WINDOW_MS);

  constructor(options: TriggerChannelsOptions) {
    this.#options = options;
  }

  /** Triggers that are listened to. */
  get size(): number {
    return this.#channels.size;
  }

  async publish(trigger: string, payload: unknown): Promise<void> {
    this.#check(trigger);
    // JSON has no undefined; a function is none either.
    const text = (JSON.stringify(payload) as string | undefined) ?? 'null';
    try {
      await this.#options.bus.send(trigger, text);
    } catch (error) {
      throw error instanceof BusUnavailableError ? unavailable('published') : error;
    }
  }

  /** @throws TypeError for a name that cannot be a trigger */
  listen(trigger: string, listener: TriggerListener): Listening {
    this.#check(trigger);
    const channel = this.#channels.get(trigger) ?? this.#open(trigger);
    channel.listeners.add(listener);
    const stop = () => {
      if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
      if (this.#channels.get(trigger) === channel) this.#channels.delete(trigger);
      channel.subscribed.then(
        (unsubscribe) => unsubscribe(),
        () => undefined, // never subscribed: `acknowledged` has rejected
      );
    };
    const acknowledged = channel.subscribed.then(
      () => undefined,
      (error: unknown) => {
        throw error instanceof BusUnavailableError ? unavailable('subscribed to') : error;
      },
    );
    // A listener may have stopped before it looks.
    acknowledged.catch(() => undefined);
    return { acknowledged, stop };
  }

  #check(trigger: string): void {
    const { prefix, maxChannelBytes, names } = this.#options;
    if (typeof trigger !== 'string' || trigger === '') {
      throw new TypeError('a trigger of context.pubsub must be a text that is not empty');
    }
    const bytes = Buffer.from(trigger);
    if (bytes.length > maxChannelBytes) {
      throw new TypeError(
        `a trigger of context.pubsub may have ${maxChannelBytes} bytes (a sixteenth of ${names.MAX_MESSAGE_BYTES})`,
      );
    }
    if (bytes.toString() !== trigger) throw new TypeError('a trigger of context.pubsub must be well-formed Unicode');
    if (isPlain(trigger, prefix)) return;
    const fix = prefix === '' ? `set ${names.CHANNEL_PREFIX}` : 'choose another trigger';
    throw new TypeError(
      `this trigger of context.pubsub could be one of crier's own channels, which begin with ${names.CHANNEL_PREFIX} (${JSON.stringify(prefix)}); ${fix}`,
    );
  }

  #open(trigger: string): TriggerChannel {
    const listeners = new Set<TriggerListener>();
    const onMessage = (message: Buffer) => this.#deliver(trigger, listeners, message);
    const onGap = () => this.#tell(trigger, listeners, (listener) => listener.onGap());
    const subscribed = this.#options.bus.subscribe(trigger, onMessage, onGap);
    const channel = { listeners, subscribed };
    this.#channels.set(trigger, channel);
    subscribed.catch(() => {
      // Later listeners try again.
      if (this.#channels.get(trigger) === channel) this.#channels.delete(trigger);
    });
    return channel;
  }

  #deliver(trigger: string, listeners: ReadonlySet<TriggerListener>, message: Buffer): void {
    const payload = message.length <= this.#options.maxMessageBytes ? parsed(message) : undefined;
    if (payload === undefined) {
      this.#options.onUnrecognisedMessage();
      this.#logWindow.run('unrecognised', (suppressed) =>
        this.#options.log.error(
          { channel: channelLabel(trigger), suppressed },
          `a message for context.pubsub was dropped: it is not JSON, or is longer than ${this.#options.names.MAX_RECORD_BYTES}`,
        ),
      );
      return;
    }
    this.#tell(trigger, listeners, (listener) => listener.onPayload(payload, message.length));
  }

  /** Calls the graph's code: one listener that throws must not keep the others from the event. */
  #tell(trigger: string, listeners: ReadonlySet<TriggerListener>, call: (listener: TriggerListener) => void): void {
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue;
      try {
        call(listener);
      } catch (error) {
        this.#logWindow.run('listener', (suppressed) =>
          this.#options.log.error(
            { err: error, channel: channelLabel(trigger), suppressed },
            'a listener of context.pubsub threw',
          ),
        );
      }
    }
  }
}

/** undefined: it is not JSON. */
function parsed(message: Buffer): unknown {
  try {
    return parseFrozen(message.toString());
  } catch {
    return undefined;
  }
}

/** What a client receives while the bus is away. */
function unavailable(what: string): Error {
  return clientError('BUS_UNAVAILABLE', `Events cannot be ${what} right now; try again`);
}
