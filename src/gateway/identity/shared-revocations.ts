import type { Control, StopListening } from '../../bus/control.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { parseRevocation } from './revocation.ts';
import { MAX_REVOCATIONS } from './revocations.ts';
import type { Revocations } from './revocations.ts';

export interface SharedRevocationsOptions {
  readonly control: Control;
  readonly revocations: Revocations;
  /** Called when other pods have revoked something. Must not throw. */
  readonly onAdded: () => void;
  readonly log: Logger;
}

const NAME = 'control:revocations';
/** In ms: interval at which revocations are read until that succeeds. */
const RETRY_MS = 2_000;
const LOG_WINDOW_MS = 60_000;

/**
 * Keeps the revocations of this pod and those of the bus equal: reads those of the bus at the start and after each loss of a link, and writes
 * those that the bus lacks, because it was away when they were made, or has lost its data.
 */
export class SharedRevocations {
  readonly #options: SharedRevocationsOptions;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  #stop: StopListening | undefined;
  #isBehind = true;
  #isReading = false;
  #isRead = false;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: SharedRevocationsOptions) {
    this.#options = options;
  }

  /** True while the bus may keep revocations that this pod does not know. */
  get isBehind(): boolean {
    return this.#isBehind || this.#isReading;
  }

  /** True once this pod has read what the bus keeps. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Resolves after the first attempt to read, also a failed one; never rejects. */
  start(): Promise<void> {
    return this.#synchronise();
  }

  /** Keeps a revocation for all pods. Resolves with `away` if that happens later, when the bus is back; `full`: there are too many. */
  async keep(text: string, untilMs: number): Promise<'kept' | 'full' | 'away'> {
    try {
      const refused = await this.#options.control.keep(NAME, [{ text, untilMs }], MAX_REVOCATIONS);
      return refused === 0 ? 'kept' : 'full';
    } catch {
      this.#fallBehind();
      return 'away';
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#stop?.();
    return Promise.resolve();
  }

  readonly #fallBehind = (): void => {
    this.#isBehind = true;
    void this.#synchronise();
  };

  async #synchronise(): Promise<void> {
    if (this.#isReading || this.#isClosed) return;
    this.#isReading = true;
    clearTimeout(this.#retry);
    try {
      // The link may be lost and back again while they are read.
      while (this.#isBehind) {
        this.#isBehind = false;
        await this.#read();
      }
      this.#isRead = true;
      this.#window.end('read');
    } catch (error) {
      if (this.#isClosed) return;
      this.#isBehind = true;
      this.#retry = setTimeout(() => void this.#synchronise(), RETRY_MS);
      this.#window.run('read', (suppressed) =>
        this.#options.log.warn(
          { reason: (error as Error).message, suppressed },
          'revocations could not be read: tokens that were revoked meanwhile are accepted until they can',
        ),
      );
    } finally {
      this.#isReading = false;
    }
  }

  async #read(): Promise<void> {
    const { control, revocations, log } = this.#options;
    this.#stop ??= await control.listen(NAME, this.#onText, this.#fallBehind);
    if (this.#isClosed) this.#stop();
    const kept = await control.kept(NAME);
    this.#add(kept);
    const isKept = new Set(kept);
    const lacking = Array.from(revocations.current, ([text, { untilMs }]) => ({ text, untilMs })).filter(
      ({ text }) => !isKept.has(text),
    );
    if (lacking.length === 0) return;
    const refused = await control.keep(NAME, lacking, MAX_REVOCATIONS);
    if (refused > 0) log.warn({ refused }, 'this pod alone knows some revocations: Redis keeps as many as it may');
  }

  readonly #onText = (text: string): void => this.#add([text]);

  #add(texts: readonly string[]): void {
    const { revocations, onAdded, log } = this.#options;
    let added = 0;
    for (const text of texts) {
      const revocation = parseRevocation(text);
      if (!revocation) this.#window.run('text', () => log.warn('a revocation of another pod cannot be read'));
      else if (revocations.add(text, revocation)) added++;
    }
    if (added > 0) onAdded();
  }
}
