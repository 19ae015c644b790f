import type { BackendPort, BackendReply, BackendRequest } from './execution-backends.ts';

/** Requests whose outcomes are kept at most; a repeat sends the others again. */
const MAX_KEPT = 1000;

interface SentRequest {
  readonly name: string;
  readonly request: BackendRequest;
  readonly outcome: Promise<BackendReply>;
}

/**
 * The requests of one execution. crier executes an operation again where a template or compiled code cannot show an error. This repeat
 * receives the outcome of each request that was sent before, so a backend that fails gets no request twice.
 */
export class ExecutionRequests implements BackendPort {
  readonly #port: BackendPort;
  /** undefined: the execution has settled, and is not repeated. */
  #sent: SentRequest[] | undefined = [];
  /** Outcomes that the repeat has not received yet, by request. undefined: there is no repeat. */
  #outcomes: Map<string, Promise<BackendReply>[]> | undefined;
  #count = 0;

  constructor(port: BackendPort) {
    this.#port = port;
  }

  /** Requests sent so far. */
  get count(): number {
    return this.#count;
  }

  send(name: string, request: BackendRequest): Promise<BackendReply> {
    const known = this.#outcomes?.get(keyOf(name, request))?.shift();
    if (known) return known.then(copyOf);
    this.#count++;
    const outcome = this.#port.send(name, request);
    if (this.#sent && this.#sent.length < MAX_KEPT) this.#sent.push({ name, request, outcome });
    return outcome;
  }

  /** The execution begins again. */
  repeat(): void {
    this.#outcomes = new Map();
    for (const { name, request, outcome } of this.#sent ?? []) {
      const key = keyOf(name, request);
      const outcomes = this.#outcomes.get(key);
      if (outcomes) outcomes.push(outcome);
      else this.#outcomes.set(key, [outcome]);
    }
  }

  /** Keeps no further outcomes: the graph's code may go on to send requests, forever. */
  settle(): void {
    this.#sent = undefined;
  }
}

function keyOf(name: string, { method, path, body, headers }: BackendRequest): string {
  return JSON.stringify([name, method, path, body, headers]);
}

/** Resolvers may have written to the body. */
function copyOf({ text }: BackendReply): BackendReply {
  return { text, body: text === '' ? null : JSON.parse(text) };
}
