import { randomUUID } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { Logger } from '../../base/log.ts';
import { UnfitResultError } from './unfit-result.ts';

const WINDOW_MS = 10_000;
/** Windows kept, one for each field and class of error; past the limit the oldest is dropped. */
const MAX_WINDOWS = 1000;

export interface MaskedErrorsOptions {
  readonly log: Logger;
  /** Called for each masked error. */
  readonly onMasked: () => void;
  /** A monotonic clock, in ms. */
  readonly now?: () => number;
}

interface Window {
  readonly id: string;
  readonly since: number;
  suppressed: number;
}

/**
 * Logs masked errors and gives them the ids that clients see. Errors of one class at one field within 10 s share one id and one log
 * line with the stack of the first, or with the fix where a stack says nothing. So every id that a client sees is in the log, and a
 * field that fails for 10,000 subscribers writes one line. The field's next line has the count of suppressed errors.
 */
export class MaskedErrors {
  readonly #options: MaskedErrorsOptions;
  readonly #now: () => number;
  /** By field and class of error, the oldest window first. */
  readonly #windows = new Map<string, Window>();

  constructor(options: MaskedErrorsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * @param field schema coordinate; undefined: the error belongs to no field
   * @returns the id for the client.
   */
  report(error: unknown, field: string | undefined, path: GraphQLError['path']): string {
    const { log, onMasked } = this.#options;
    onMasked();
    const key = `${field ?? ''} ${className(error)}`;
    const now = this.#now();
    const known = this.#windows.get(key);
    if (known && now - known.since < WINDOW_MS) {
      known.suppressed++;
      return known.id;
    }
    const id = randomUUID();
    this.#windows.delete(key);
    this.#windows.set(key, { id, since: now, suppressed: 0 });
    if (this.#windows.size > MAX_WINDOWS) this.#windows.delete(this.#windows.keys().next().value!);
    const facts = { errorId: id, field, path, suppressed: known?.suppressed ?? 0 };
    if (error instanceof UnfitResultError) {
      // Its stack has no code of the graph's author.
      log.error({ problems: [error.message], ...facts }, UNFIT);
    } else log.error({ err: error, ...facts }, KEPT);
    return id;
  }
}

const KEPT = 'an error was kept from the client, which received "Internal server error" and this errorId';
const UNFIT = 'a value does not fit the schema: clients receive null, what is wrong and this errorId';

/** The class name of any value, even one that throws when it is read. */
function className(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}` : typeof error;
  } catch {
    return '';
  }
}
