import type { ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot } from 'node:v8';
import { sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import type { Logger } from '../../base/log.ts';
import { recordAllocations, recordCpu } from './recording.ts';

export interface ProfilingOptions {
  readonly log: Logger;
  /** The event loop's lag in ms. */
  readonly lagMs: () => number;
  /** Called before a profile whose start blocks the event loop for long, in the same turn. */
  readonly beforeLongTurn?: (() => void) | undefined;
  /** Bytes that the process may still take. Default: `process.availableMemory()`, which knows the limit of the container. */
  readonly availableMemory?: () => number;
}

const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 60;
/** A loop that is later than this in ms has no time for a profiler. */
const MAX_LAG_MS = 500;
/** Bytes that must be free for a profile. */
const MIN_MEMORY = 64 * 1024 * 1024;
/** A caller that reads nothing for this time in ms is disconnected. */
const MAX_STALL_MS = 30_000;

/** What one route sends. */
interface Profile {
  readonly name: string;
  readonly extension: string;
  readonly requiredBytes: () => number;
  /** True if the event loop stands still at the start. */
  readonly isBlocking?: true;
  /** Rejects with the signal's reason when the caller goes away. */
  readonly record: (ms: number, signal: AbortSignal) => Promise<Readable>;
}

/** At the start V8 searches the whole heap for code, which takes seconds if the heap is large. The loop stands still meanwhile. */
const CPU: Profile = {
  name: 'a CPU profile',
  extension: 'cpuprofile',
  requiredBytes: () => MIN_MEMORY,
  isBlocking: true,
  record: async (ms, signal) => Readable.from(await recordCpu(ms, signal)),
};

const ALLOCATIONS: Profile = {
  name: 'an allocation profile',
  extension: 'heapprofile',
  requiredBytes: () => MIN_MEMORY,
  record: async (ms, signal) => Readable.from(await recordAllocations(ms, signal)),
};

/**
 * The loop stands still while V8 collects the snapshot, which is outside the heap and can be twice as large, and while V8 writes it, at the
 * first read. Both are in one turn.
 */
const SNAPSHOT: Profile = {
  name: 'a heap snapshot',
  extension: 'heapsnapshot',
  requiredBytes: () => MIN_MEMORY + 2 * process.memoryUsage().heapUsed,
  isBlocking: true,
  record: () => Promise.resolve(getHeapSnapshot()),
};

/** The routes below `/debug/profile`. One profile is recorded at a time; its caller receives it and no file is written. */
export class Profiling {
  readonly routes: readonly (readonly [string, Route])[] = [
    ['/debug/profile/cpu', this.#route(CPU)],
    ['/debug/profile/heap-sampling', this.#route(ALLOCATIONS)],
    ['/debug/profile/heap-snapshot', this.#route(SNAPSHOT)],
  ];
  readonly #options: ProfilingOptions;
  #running: Profile | undefined;

  constructor(options: ProfilingOptions) {
    this.#options = options;
  }

  #route(profile: Profile): Route {
    return { methods: ['POST'], handle: (_request, response, url) => this.#answer(profile, response, url) };
  }

  async #answer(profile: Profile, response: ServerResponse, url: URL): Promise<void> {
    const text = url.searchParams.get('seconds') ?? String(DEFAULT_SECONDS);
    const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    if (seconds < 1 || seconds > MAX_SECONDS) {
      return sendText(response, 400, `seconds: expected a whole number from 1 to ${MAX_SECONDS}\n`);
    }
    if (this.#running) return sendText(response, 409, `${this.#running.name} is being recorded; one at a time\n`);
    const refusal = this.#refusal(profile);
    if (refusal !== undefined) return sendText(response, 503, `${refusal}\n`);
    this.#running = profile;
    const startedAt = performance.now();
    const caller = new AbortController();
    const onClose = () => caller.abort(new Error('the caller has gone'));
    response.once('close', onClose);
    this.#options.log.warn({ profile: profile.extension }, 'recording a profile');
    if (profile.isBlocking) this.#options.beforeLongTurn?.();
    try {
      const body = await profile.record(seconds * 1000, caller.signal);
      await this.#send(profile, body, response);
    } catch (error) {
      if (!caller.signal.aborted) throw error;
      this.#options.log.warn({ profile: profile.extension }, 'the caller of a profile has gone; it is discarded');
    } finally {
      response.off('close', onClose);
      this.#running = undefined;
      const durationMs = Math.round(performance.now() - startedAt);
      this.#options.log.info({ profile: profile.extension, durationMs }, 'a profile has ended');
    }
  }

  #send({ extension }: Profile, body: Readable, response: ServerResponse): Promise<void> {
    const time = new Date().toISOString().replaceAll(':', '-');
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="crier-${hostname()}-${time}.${extension}"`,
      'cache-control': 'no-store',
    });
    response.setTimeout(MAX_STALL_MS, () => response.destroy());
    return pipeline(body, response);
  }

  #refusal({ name, requiredBytes }: Profile): string | undefined {
    const { lagMs, availableMemory = () => process.availableMemory() } = this.#options;
    const lag = Math.round(lagMs());
    if (lag > MAX_LAG_MS)
      return `the event loop is ${lag} ms late, and more than ${MAX_LAG_MS} ms is too late for ${name}`;
    const required = requiredBytes();
    const available = availableMemory();
    if (available >= required) return undefined;
    return `${name} can need ${megabytes(required)} MB, and the process has ${megabytes(available)} MB left`;
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
