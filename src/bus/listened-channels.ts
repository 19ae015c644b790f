import { LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { channelLabel } from './channel.ts';
import type { Listener, Unsubscribe } from './feed.ts';
import { Listeners } from './listeners.ts';

const LOG_WINDOW_MS = 5_000;

export interface ListenedChannelsOptions {
  readonly log: Logger;
  /** Called with the first listener of a channel, and after the last one has left. Default: nothing follows. */
  readonly onOpen?: (channel: string, listeners: Listeners) => void;
  readonly onClose?: (channel: string) => void;
}

/** The channels of a bus that have listeners, each until its last one leaves. */
export class ListenedChannels {
  readonly #options: ListenedChannelsOptions;
  readonly #channels = new Map<string, Listeners>();
  readonly #window = new LogWindow(LOG_WINDOW_MS);

  constructor(options: ListenedChannelsOptions) {
    this.#options = options;
  }

  get(channel: string): Listeners | undefined {
    return this.#channels.get(channel);
  }

  add(channel: string, listener: Listener, onGap?: () => void): Unsubscribe {
    const listeners = this.#channels.get(channel) ?? this.#open(channel);
    return listeners.add({ listener, onGap }, () => {
      if (listeners.size === 0) this.#close(channel);
    });
  }

  /** Removes all listeners. Their unsubscribe functions do nothing afterwards. */
  clear(): void {
    for (const listeners of this.#channels.values()) listeners.clear();
    this.#channels.clear();
  }

  #open(channel: string): Listeners {
    const { log, onOpen } = this.#options;
    const listeners = new Listeners((error) =>
      this.#window.run('listener', (suppressed) =>
        log.error({ err: error, channel: channelLabel(channel), suppressed }, 'a listener of a channel threw'),
      ),
    );
    onOpen?.(channel, listeners);
    this.#channels.set(channel, listeners);
    return listeners;
  }

  #close(channel: string): void {
    this.#channels.delete(channel);
    this.#options.onClose?.(channel);
  }
}
