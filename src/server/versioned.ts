/** What a part makes of each version. */
export interface Derivation<T, Part> {
  /**
   * Makes the part of a version beside the current one, which changes nothing yet.
   * @param generation counts the versions that were opened: the first is 0
   * @throws SetupError: this pod cannot serve the version
   */
  readonly open: (version: T, generation: number) => Part | Promise<Part>;
  /** Called in the turn of the event loop that serves the version. Resolves when it needs nothing of the former part any more. */
  readonly serve?: (current: Part, former: Part) => unknown;
  /** Called for a part whose version is not served, or is no longer needed by any part. */
  readonly close?: (part: Part) => Promise<void>;
}

/** A part of a version, open beside the current one: either `serve` and `close` follow, or `discard`. */
interface Opened {
  /** Makes it the current one. */
  swap(): void;
  serve(): unknown;
  /** Closes the former one. */
  close(): Promise<void>;
  discard(): Promise<void>;
}

/** A value, and the parts that are made of it. The next version replaces them all in one turn of the event loop, or none. */
export class Versioned<T> {
  readonly #openings: ((version: T, generation: number) => Promise<Opened>)[] = [];
  readonly #current: { readonly current: T };
  #generation = 0;

  constructor(first: T) {
    this.#current = this.derive(first, { open: (version) => version });
  }

  get current(): T {
    return this.#current.current;
  }

  /**
   * Has a part of each version made.
   * @param first of the current version
   * @returns the part of the current version
   */
  derive<Part>(first: Part, { open, serve, close }: Derivation<T, Part>): { readonly current: Part } {
    const part = { current: first };
    this.#openings.push(async (version, generation) => {
      const next = await open(version, generation);
      let former: Part = next;
      return {
        swap: () => {
          former = part.current;
          part.current = next;
        },
        serve: () => serve?.(next, former),
        close: async () => close?.(former),
        discard: async () => close?.(next),
      };
    });
    return part;
  }

  /** Calls `serve` in the turn of the event loop that serves a version: after all parts are replaced, and in the order of these calls and `derive`. */
  onServe(serve: (current: T, former: T) => unknown): void {
    this.derive(this.current, { open: (version) => version, serve });
  }

  /**
   * Opens all parts of a version, then serves all of them in one turn. Resolves when the former parts are closed.
   * @param check called before that turn; throws if no version may be served any more
   * @throws what `check` or a part throws; the current version is served as before
   */
  async replace(version: T, check: () => void): Promise<void> {
    const generation = ++this.#generation;
    const openings = await Promise.allSettled(this.#openings.map((open) => open(version, generation)));
    const opened = openings.flatMap((opening) => (opening.status === 'fulfilled' ? [opening.value] : []));
    const failure = openings.find((opening) => opening.status === 'rejected');
    try {
      if (failure) throw failure.reason;
      check();
    } catch (error) {
      await Promise.all(opened.map((one) => one.discard()));
      throw error;
    }
    for (const one of opened) one.swap();
    await Promise.all(opened.map((one) => one.serve()));
    await Promise.all(opened.map((one) => one.close()));
  }
}
