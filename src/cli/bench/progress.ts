import { paint } from '../paint.ts';

const ERASE_LINE = '\r\x1b[K';
const LINE_MS = 2000;

/** What is under way, on standard error: a line that changes in a terminal, else a line every two seconds if it has changed. */
export class Progress {
  readonly #isTerminal = (process.stderr.isTTY as boolean | undefined) ?? false;
  readonly #timer: NodeJS.Timeout | undefined;
  #text = '';
  #written = '';

  constructor() {
    if (!this.#isTerminal) this.#timer = setInterval(() => this.#write('', '\n'), LINE_MS);
  }

  show(text: string): void {
    this.#text = text;
    if (this.#isTerminal) this.#write(ERASE_LINE, '');
  }

  /** Before something else is printed. */
  clear(): void {
    if (this.#isTerminal && this.#written !== '') process.stderr.write(ERASE_LINE);
    this.#text = this.#written = '';
  }

  close(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #write(before: string, after: string): void {
    if (this.#text === this.#written) return;
    this.#written = this.#text;
    const text = this.#isTerminal ? this.#text.slice(0, (process.stderr.columns || 80) - 1) : this.#text;
    process.stderr.write(before + paint(process.stderr, 'dim', text) + after);
  }
}
