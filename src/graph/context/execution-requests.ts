import { parseExactly } from '../../base/json/exact-numbers.ts';
import { textWeight, weightOf } from '../../base/json/weight.ts';
import type { BackendPort, BackendReply, BackendRequest } from './execution-backends.ts';

/** Requests that are kept at most, and the memory in bytes of these and of their replies. A repeat sends the others again. */
const MAX_KEPT = 1000;
const MAX_KEPT_BYTES = 1024 * 1024;

interface SentRequest {
  readonly name: string;
  readonly request: BackendRequest;
  /** The reply. undefined: it is not kept, because it does not fit. */
  text: Promise<string> | undefined;
}

/**
 * The requests of one execution. crier executes an operation again where a template or compiled code cannot show an error. A request of
 * this repeat receives the outcome of an equal one (backend, method, path, body and headers) that was sent before the repeat began, and is
 * not sent. Resolvers that run on from before the repeat take outcomes in the same way. Each outcome is taken once in a repeat.
 */
export class ExecutionRequests implements BackendPort {
  readonly #port: BackendPort;
  /** undefined: the execution has settled, and is not repeated. */
  #sent: SentRequest[] | undefined = [];
  #keptBytes = 0;
  /** Requests whose outcomes the repeat has not taken yet, by key. undefined: there is no repeat. */
  #known: Map<string, SentRequest[]> | undefined;
  #count = 0;

  constructor(port: BackendPort) {
    this.#port = port;
  }

  /** Requests sent so far. */
  get count(): number {
    return this.#count;
  }

  send(name: string, request: BackendRequest): Promise<BackendReply> {
    const text = this.#known?.get(keyOf(name, request))?.shift()?.text;
    if (text) return text.then(replyOf);
    this.#count++;
    const outcome = this.#port.send(name, request);
    this.#keep(name, request, outcome);
    return outcome;
  }

  /** The execution begins again. */
  repeat(): void {
    this.#known = new Map();
    for (const sent of this.#sent ?? []) {
      if (!sent.text) continue;
      const key = keyOf(sent.name, sent.request);
      const equal = this.#known.get(key);
      if (equal) equal.push(sent);
      else this.#known.set(key, [sent]);
    }
  }

  /** Keeps no later request: the graph's code may send requests forever. Resolvers of a repeat that run on still take outcomes. */
  settle(): void {
    this.#sent = undefined;
  }

  #keep(name: string, request: BackendRequest, outcome: Promise<BackendReply>): void {
    if (!this.#sent || this.#sent.length === MAX_KEPT || !this.#reserve(weightOf(request))) return;
    const text = outcome.then((reply) => {
      if (!this.#reserve(textWeight(reply.text))) sent.text = undefined;
      return reply.text;
    });
    // The caller receives the error.
    text.catch(() => undefined);
    const sent: SentRequest = { name, request, text };
    this.#sent.push(sent);
  }

  /** Returns false if so much more must not be kept. */
  #reserve(bytes: number): boolean {
    if (this.#keptBytes + bytes > MAX_KEPT_BYTES) return false;
    this.#keptBytes += bytes;
    return true;
  }
}

function keyOf(name: string, { method, path, body, headers }: BackendRequest): string {
  return JSON.stringify([name, method, path, body, headers]);
}

/** Parsed for each repeat: resolvers may have written to the body. */
function replyOf(text: string): BackendReply {
  return { text, body: text === '' ? null : parseExactly(text) };
}
