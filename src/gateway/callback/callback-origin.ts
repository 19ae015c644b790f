import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { Fifo } from '../../base/fifo.ts';
import { errorOf } from '../../base/errors.ts';

/** What became of a post, as a metric label. `gone`: the router knows the subscription no more. `unreachable`: it may be posted again. */
export type PostResult = 'delivered' | 'gone' | 'refused' | 'unreachable';

export interface PostOutcome {
  readonly result: PostResult;
  /** For people: a status or a code of an error. */
  readonly text: string;
}

/** A queue of messages that takes turns with the others of its origin. */
export interface Poster {
  /** Its turn: it posts once, or not at all. Never rejects. */
  post(): Promise<void>;
}

export interface CallbackOriginOptions {
  /** Longest wait in ms for a connection, for the head of an answer, and for its body. */
  readonly timeoutMs: number;
  readonly onPosted: (result: PostResult) => void;
}

/** Posts in flight to one origin, each on a keep-alive connection. */
export const MAX_POSTS = 64;
/** Bytes of an answer that are read; a router answers with none. */
const MAX_ANSWER_BYTES = 4096;

const HEADERS = { 'content-type': 'application/json', 'subscription-protocol': 'callback/1.0' };

/** Later, the same post may succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429]);

/** The routers of one origin: a bounded number of posts to them is in flight, and all who post take turns. */
export class CallbackOrigin {
  /** Such as https://router.example.com:4000. */
  readonly name: string;
  /** Subscribers whose callbacks are of this origin. */
  users = 0;
  readonly #pool: Pool;
  readonly #options: CallbackOriginOptions;
  readonly #waiting = new Fifo<Poster>();
  #posting = 0;

  constructor(name: string, options: CallbackOriginOptions) {
    const { timeoutMs } = options;
    this.name = name;
    this.#options = options;
    // A redirect is an answer that is not followed: it may lead to an origin that is not allowed.
    this.#pool = new Pool(name, {
      connections: MAX_POSTS,
      pipelining: 1,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }

  /** Gives a poster one turn, after those that wait. */
  add(poster: Poster): void {
    this.#waiting.add(poster);
    this.#begin();
  }

  async post(path: string, body: Buffer): Promise<PostOutcome> {
    const outcome = await this.#request(path, body);
    this.#options.onPosted(outcome.result);
    return outcome;
  }

  /** Ends all posts. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #begin(): void {
    while (this.#posting < MAX_POSTS && !this.#waiting.isEmpty) {
      this.#posting++;
      void this.#waiting.take().post().then(this.#onPosted);
    }
  }

  readonly #onPosted = (): void => {
    this.#posting--;
    this.#begin();
  };

  async #request(path: string, body: Buffer): Promise<PostOutcome> {
    try {
      const answer = await this.#pool.request({ method: 'POST', path, headers: HEADERS, body });
      await this.#skip(answer.body);
      return outcomeOf(answer.statusCode);
    } catch (error) {
      const { code, message } = errorOf(error) as NodeJS.ErrnoException;
      return { result: 'unreachable', text: code ?? message };
    }
  }

  /** Reads what the connection must be free of before the next post. */
  async #skip(body: Dispatcher.ResponseData['body']): Promise<void> {
    const deadline = setTimeout(() => body.destroy(), this.#options.timeoutMs);
    await body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
    clearTimeout(deadline);
  }
}

function outcomeOf(status: number): PostOutcome {
  const text = `status ${status}`;
  if (status >= 200 && status < 300) return { result: 'delivered', text };
  if (status >= 500 || RETRYABLE.has(status)) return { result: 'unreachable', text };
  return { result: status === 404 ? 'gone' : 'refused', text };
}
