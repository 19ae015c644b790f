import { paint } from '../../base/paint.ts';

const ERASE_LINE = '\r\x1b[K';
const TERMINAL_MS = 100;
const LINE_MS = 2000;

/** What is under way, on standard error: a line that changes in a terminal, else a line every two seconds if it has changed. */
export class Progress {
  readonly #isTerminal = (process.stderr.isTTY as boolean | undefined) ?? false;
  readonly #timer = setInterval(() => this.#write(), this.#isTerminal ? TERMINAL_MS : LINE_MS);
  #text = '';
  #written = '';

  show(text: string): void {
    this.#text = text;
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

  #write(): void {
    if (this.#text === this.#written) return;
    this.#written = this.#text;
    const text = this.#isTerminal ? this.#text.slice(0, (process.stderr.columns || 80) - 1) : this.#text;
    const line = paint(process.stderr, 'dim', text);
    process.stderr.write(this.#isTerminal ? ERASE_LINE + line : `${line}\n`);
  }
}
