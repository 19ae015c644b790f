import { BusUnavailableError } from '../../base/errors.ts';
import type { Bus } from '../bus.ts';
import type { Control, KeptText, StopListening } from '../control.ts';

/** Begins the names of channels that carry control messages. No other channel's name has it. */
const CONTROL = '\0control:';

/** Control messages within one process, on channels of its bus. */
export class MemoryControl implements Control {
  readonly #bus: Pick<Bus, 'isAvailable' | 'send' | 'subscribe'>;
  /** By name: texts, and when they are forgotten. */
  readonly #kept = new Map<string, Map<string, number>>();

  constructor(bus: Pick<Bus, 'isAvailable' | 'send' | 'subscribe'>) {
    this.#bus = bus;
  }

  send(name: string, text: string): Promise<void> {
    return this.#bus.send(CONTROL + name, text);
  }

  listen(name: string, onText: (text: string) => void): Promise<StopListening> {
    return this.#bus.subscribe(CONTROL + name, (payload) => onText(payload.toString()));
  }

  async keep(name: string, texts: readonly KeptText[], max: number): Promise<number> {
    const kept = this.#current(name);
    let refused = 0;
    const sent: Promise<void>[] = [];
    for (const { text, untilMs } of texts) {
      const isNew = !kept.has(text);
      if (isNew && kept.size >= max) refused++;
      else kept.set(text, untilMs);
      if (isNew && kept.has(text)) sent.push(this.send(name, text));
    }
    await Promise.all(sent);
    return refused;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async kept(name: string): Promise<string[]> {
    return [...this.#current(name).keys()];
  }

  /** The texts under a name, without those whose time is over. */
  #current(name: string): Map<string, number> {
    if (!this.#bus.isAvailable) throw new BusUnavailableError('the bus is not started, or closed');
    const kept = [...(this.#kept.get(name) ?? [])].filter(([, untilMs]) => untilMs > Date.now());
    const current = new Map(kept);
    this.#kept.set(name, current);
    return current;
  }
}
