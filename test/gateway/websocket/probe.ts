import { randomName } from '../../support/services.ts';
import type { Scope } from '../../support/socket.ts';

/**
 * Key of the probes on globalThis. The server under test loads the resolvers of fixtures/conformance in this process, but under
 * other module URLs, so they cannot share module state with the tests.
 */
const PROBES = Symbol.for('crier.test.probes');

interface Registry {
  [PROBES]?: Map<string, Probe>;
}

/** An event for both of its fields, `live` and `live_later`. */
interface LiveEvent {
  readonly live: { readonly value: number };
  readonly live_later: { readonly value: number };
}

/** Lets one test observe and control the server's resolvers. The test passes its token as an argument. */
export class Probe {
  readonly token = randomName('probe');
  /** Calls of `authenticate` with this token. */
  authentications = 0;
  /** Number of created sources of `live`. */
  starts = 0;
  /** Calls of `return()` on those sources. */
  returns = 0;
  readonly #sources = new Set<ProbeSource>();
  readonly #gates = new Map<string, { opened: Promise<void>; open: () => void }>();

  /** Sends one event to every live source. */
  push(value: number): void {
    for (const source of this.#sources) source.push({ live: { value }, live_later: { value } });
  }

  /** Ends every live source. */
  end(): void {
    for (const source of this.#sources) source.end();
  }

  /** Makes every live source throw. */
  fail(error: Error): void {
    for (const source of this.#sources) source.end(error);
  }

  source(): AsyncIterableIterator<LiveEvent> {
    this.starts++;
    const source = new ProbeSource(() => {
      this.returns++;
      this.#sources.delete(source);
    });
    this.#sources.add(source);
    return source;
  }

  /** Resolves once the gate is released, also if that was before the call. */
  gate(name = ''): Promise<void> {
    return this.#gateOf(name).opened;
  }

  release(name = ''): void {
    this.#gateOf(name).open();
  }

  releaseAll(): void {
    for (const gate of this.#gates.values()) gate.open();
  }

  #gateOf(name: string): { opened: Promise<void>; open: () => void } {
    let gate = this.#gates.get(name);
    if (!gate) {
      let open = () => {};
      const opened = new Promise<void>((resolve) => (open = resolve));
      gate = { opened, open };
      this.#gates.set(name, gate);
    }
    return gate;
  }
}

class ProbeSource implements AsyncIterableIterator<LiveEvent> {
  readonly #onReturn: () => void;
  readonly #events: LiveEvent[] = [];
  #hasEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(event: LiveEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  end(failure?: Error): void {
    this.#hasEnded = true;
    this.#failure = failure;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<LiveEvent>> {
    for (;;) {
      const value = this.#events.shift();
      if (value) return { done: false, value };
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) throw failure;
      if (this.#hasEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  return(): Promise<IteratorResult<LiveEvent>> {
    this.#onReturn();
    this.#events.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Creates a probe that resolvers find by its token. At the end of the test its gates open and its sources end. */
export function createProbe(scope: Scope): Probe {
  const registry = globalThis as Registry;
  const probes = (registry[PROBES] ??= new Map());
  const probe = new Probe();
  probes.set(probe.token, probe);
  scope.after(() => {
    probe.releaseAll();
    probe.end();
    probes.delete(probe.token);
  });
  return probe;
}
