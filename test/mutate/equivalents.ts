import type { Change } from './change.ts';
import type { Mutant } from './mutants.ts';

/** A mutant that no test can tell from the source, known by its text: line numbers move. */
export interface Equivalent {
  readonly file: string;
  /** The changed lines joined by spaces, as the results show them. */
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'src/bus/coordinates.ts',
    before: "if (at - start > MAX_EXACT_DIGITS) value = Number(bytes.toString('latin1', start, at));",
    after: "if (at - start >= MAX_EXACT_DIGITS) value = Number(bytes.toString('latin1', start, at));",
    reason: 'A number of 15 digits is exact by either way.',
  },
  {
    file: 'src/bus/coordinates.ts',
    before: 'return (this.length = -1);',
    after: 'return (this.length = -0);',
    reason: 'Byte 0 is the "@", which stands neither before a later number or id nor at the end of the line.',
  },
  {
    file: 'src/bus/redis-command.ts',
    before: 'return Number.isSafeInteger(number) && number >= 0;',
    after: 'return Number.isSafeInteger(number) && number > 0;',
    reason: 'The other way writes the same bytes, more slowly.',
  },
  {
    file: 'src/bus/redis-fence.ts',
    before: 'writer.text(`${messages.length > 0 ? least : 0}`);',
    after: 'writer.text(`${false ? least : 0}`);',
    reason: 'The script then looks at the offset of each message, which costs time and has the same outcome.',
  },
  {
    file: 'src/bus/redis-link.ts',
    before: "if (this.#isUp || this.#status !== 'started') return;",
    after: 'if (this.#isUp) return;',
    reason: 'A probe of a closed link asks nothing; its timer ends 250 ms later.',
  },
  {
    file: 'src/bus/redis-link.ts',
    before: "const isCurrent = stream === this.client.stream && this.client.status === 'ready' && stream.writable;",
    after: 'const isCurrent = stream === this.client.stream && stream.writable;',
    reason: 'The client was ready when it asked on this stream, and is not only when the stream is closed.',
  },
];

export function equivalentOf(
  mutant: Mutant,
  change: Change,
  equivalents: readonly Equivalent[] = EQUIVALENTS,
): Equivalent | undefined {
  return equivalents.find(
    ({ file, before, after }) =>
      file === mutant.file && before === change.before.join(' ') && after === change.after.join(' '),
  );
}
