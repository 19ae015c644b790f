import type { Control, KeptText, StopListening } from '../control.ts';

/** Control messages within one process. They are delivered in a later turn of the event loop, as over a network. */
export class MemoryControl implements Control {
  readonly #listeners = new Map<string, (text: string) => void>();
  /** By name: texts, and when they are forgotten. */
  readonly #kept = new Map<string, Map<string, number>>();
  readonly #assertStarted: () => void;

  /** @param assertStarted throws unless the bus is started */
  constructor(assertStarted: () => void) {
    this.#assertStarted = assertStarted;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async send(name: string, text: string): Promise<void> {
    this.#assertStarted();
    setImmediate(() => this.#listeners.get(name)?.(text));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async listen(name: string, onText: (text: string) => void): Promise<StopListening> {
    this.#assertStarted();
    this.#listeners.set(name, onText);
    return () => {
      if (this.#listeners.get(name) === onText) this.#listeners.delete(name);
    };
  }

  async keep(name: string, texts: readonly KeptText[], max: number): Promise<number> {
    this.#assertStarted();
    const kept = this.#current(name);
    let refused = 0;
    for (const { text, untilMs } of texts) {
      if (!kept.has(text) && kept.size >= max) refused++;
      else {
        if (!kept.has(text)) await this.send(name, text);
        kept.set(text, untilMs);
      }
    }
    return refused;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async kept(name: string): Promise<string[]> {
    this.#assertStarted();
    return [...this.#current(name).keys()];
  }

  close(): void {
    this.#listeners.clear();
    this.#kept.clear();
  }

  /** The texts under a name, without those whose time is over. */
  #current(name: string): Map<string, number> {
    const kept = this.#kept.get(name) ?? new Map<string, number>();
    for (const [text, untilMs] of kept) if (untilMs <= Date.now()) kept.delete(text);
    this.#kept.set(name, kept);
    return kept;
  }
}
