import type { Logger } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { callTree } from './cpu-profile.ts';
import type { CallFrame } from './cpu-profile.ts';
import { flameGraph } from './flame-graph.ts';
import type { Hue } from './flame-graph.ts';
import { LIFE_INTERVAL_US, LifeProfile } from './life-profile.ts';
import { parseTarget, writeFiles } from '../../config/profile-target.ts';
import type { ProfileFile } from '../../config/profile-target.ts';

export interface ExitProfileOptions {
  /** A directory, or a URL. */
  readonly target: string;
  readonly facts: { readonly pod: string; readonly role: string; readonly version: string };
  /** Longest time for the writing, in ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

const MAX_POD_LENGTH = 100;

/** URLs of this code, and of the built-in graphs. */
const CRIER = new URL('../..', import.meta.url).href;
const GRAPHS = new URL('graphs/', CRIER).href;

const HUES = {
  crier: { name: 'crier', color: '#6baed6' },
  graph: { name: 'graph', color: '#74c476' },
  packages: { name: 'packages', color: '#b5a7d6' },
  node: { name: 'Node', color: '#e0af68' },
  collector: { name: 'garbage collection', color: '#8c959f' },
  native: { name: 'native code', color: '#c9d1d9' },
} as const satisfies Record<string, Hue>;

/** The CPU profile of a process's whole life, written when it ends: a `.cpuprofile`, and a flame graph as SVG. */
export class ExitProfile {
  readonly #options: ExitProfileOptions;
  readonly #life = new LifeProfile();
  readonly #startedAt = new Date();
  #finishing: Promise<void> | undefined;

  constructor(options: ExitProfileOptions) {
    this.#options = options;
  }

  /** Begins to record. Called once. */
  start(): Promise<void> {
    return this.#life.start();
  }

  /** Ends the recording and writes it, or logs why it could not. Never rejects; takes `timeoutMs` at most. Idempotent. */
  finish(): Promise<void> {
    this.#finishing ??= this.#finish();
    return this.#finishing;
  }

  async #finish(): Promise<void> {
    const { target, timeoutMs, log } = this.#options;
    const startedAt = performance.now();
    try {
      const files = this.#files();
      const signal = AbortSignal.timeout(timeoutMs);
      // A file system may hang.
      await orAborted(writeFiles(parseTarget(target), files, signal), signal, () => signal.reason as Error);
      const [{ name, body }] = files;
      const durationMs = Math.round(performance.now() - startedAt);
      log.info({ file: name, bytes: body.length, durationMs }, 'the profile of PROFILE_ON_EXIT is written');
    } catch (error) {
      const { name, message } = error as Error;
      const reason = name === 'TimeoutError' ? `not written within ${timeoutMs} ms` : message;
      log.error({ reason }, 'the profile of PROFILE_ON_EXIT is lost');
    }
  }

  #files(): readonly [ProfileFile, ProfileFile] {
    const { pod, role, version } = this.#options.facts;
    const profile = this.#life.stop();
    const name = fileName(this.#options.facts, this.#startedAt);
    const time = `${this.#startedAt.toISOString()} to ${new Date().toISOString()}`;
    const samples = profile.endTime / LIFE_INTERVAL_US;
    const title = `${pod}, ${role}, ${version}: ${time}, ${samples} samples, one each ${LIFE_INTERVAL_US / 1000} ms; without idle time`;
    return [
      { name: `${name}.cpuprofile`, contentType: 'application/json', body: Buffer.from(JSON.stringify(profile)) },
      {
        name: `${name}.svg`,
        contentType: 'image/svg+xml',
        body: Buffer.from(flameGraph(title, callTree(profile), Object.values(HUES), hueOf)),
      },
    ];
  }
}

/** Without an extension. A pod's name may be any text. */
export function fileName({ pod, role, version }: ExitProfileOptions['facts'], startedAt: Date): string {
  const time = startedAt.toISOString().replaceAll(':', '-');
  return `crier-${pod.slice(0, MAX_POD_LENGTH)}-${role}-${version}-${time}`.replace(/[^A-Za-z0-9._-]/g, '-');
}

function hueOf({ functionName, url }: CallFrame): Hue | undefined {
  if (functionName === '(garbage collector)') return HUES.collector;
  if (url === '') return undefined;
  if (url.startsWith('node:')) return HUES.node;
  // crier itself may be a package.
  if (url.startsWith(GRAPHS)) return HUES.graph;
  if (url.startsWith(CRIER)) return HUES.crier;
  return url.includes('/node_modules/') ? HUES.packages : HUES.graph;
}
