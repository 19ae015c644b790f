import type { PathValues } from '../bus/channel.ts';
import { partLabel } from './record-parts.ts';
import type { Binding } from './schema/binding.ts';

/**
 * `match_absent`: no value at the path of a required match or of a where, or one that is too long to subscribe to. `payload_absent`: no value, or
 * null, at the path of the payload.
 */
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];
export const UNMATCHED_REASONS = ['match_absent', 'payload_absent'] as const;

/** Counts the records of a topic that match one of its fields, and those that do not. */
export class FieldTally {
  readonly field: string;
  /** For each reason, the paths that may be absent, as a log line shows them. */
  readonly paths: Readonly<Record<UnmatchedReason, string>>;
  /** Records that match and have a payload. */
  matched = 0;
  unmatched: Record<UnmatchedReason, number> = { match_absent: 0, payload_absent: 0 };
  readonly #required: readonly number[];
  readonly #maxLength: number;
  /** Index of the payload's path; undefined: a record that matches always has a payload. */
  readonly #payload: number | undefined;

  /**
   * @param indexOf the index of a path among those of the topic
   * @param maxLength of a matched value
   */
  constructor(binding: Binding, indexOf: (path: string) => number, maxLength = Infinity) {
    const required = requiredPaths(binding);
    const payloadPath = payloadToLookFor(binding);
    this.field = binding.field;
    this.paths = { match_absent: required.map(partLabel).join(', '), payload_absent: payloadPath ?? '' };
    this.#required = required.map(indexOf);
    this.#maxLength = maxLength;
    this.#payload = payloadPath === undefined ? undefined : indexOf(payloadPath);
  }

  /** Counts a record. Returns true if a channel of the field gets it. It does without a payload, too: the field is then null. */
  count(values: PathValues): boolean {
    for (let i = 0; i < this.#required.length; i++) {
      const value = values[this.#required[i]!];
      if (value === undefined || value.length > this.#maxLength) {
        this.unmatched.match_absent++;
        return false;
      }
    }
    if (this.#payload !== undefined && values[this.#payload] === undefined) this.unmatched.payload_absent++;
    else this.matched++;
    return true;
  }
}

/** The path of a field's payload, if a record with values for all required matches may lack it. */
export function payloadToLookFor(binding: Binding): string | undefined {
  if (binding.payload.length === 0) return undefined;
  const payload = binding.payload.join('.');
  const isImplied = requiredPaths(binding).some((path) => path === payload || path.startsWith(`${payload}.`));
  return isImplied ? undefined : payload;
}

function requiredPaths({ match, where }: Binding): string[] {
  return [...match.filter(({ isOptional }) => !isOptional), ...where].map(({ path }) => path);
}
