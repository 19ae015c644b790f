import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { partsToEnvironment } from './pod/parts.ts';
import type { Parts } from './pod/parts.ts';

/** What the talk counted in four minutes of flood, and the heap in MB that it named, where it did. */
export interface TalkFigures {
  readonly received?: number;
  readonly sent?: number;
  readonly idleMegabytes?: number;
  /** Where it gave no figure. */
  readonly words?: string;
}

export interface Rung {
  readonly name: string;
  /** What it changes; everything from the rungs before stays. */
  readonly title: string;
  /** undefined: there is nothing to run, `note` says why. */
  readonly pod: Pod | undefined;
  readonly talk: TalkFigures | undefined;
  readonly note?: string;
  /** No step of the ladder but beside it: what would be if. */
  readonly isControl?: boolean;
}

type Build = 'for browsers' | 'for Node';

const baseline: Parts = {
  backends: 'eager',
  loaders: 'eager',
  snakeCase: 'chain',
  convertsAt: 'delivery',
  documents: 'with-locations',
};

function historical(name: string, title: string, build: Build, parts: Parts): Pick<Rung, 'name' | 'title' | 'pod'> {
  const script = `ladder/${build === 'for Node' ? 'pod' : 'pod-browser'}/main.js`;
  return { name, title, pod: { name: `ladder-${name}`, title, script, environment: partsToEnvironment(parts) } };
}

const lazyBackends: Parts = { ...baseline, backends: 'lazy' };
const iteration: Parts = { ...lazyBackends, snakeCase: 'iteration' };
const memoised: Parts = { ...iteration, snakeCase: 'memoised' };
const inPlace: Parts = { ...memoised, snakeCase: 'in-place' };
const noLocations: Parts = { ...inPlace, documents: 'without-locations' };
const endState: Parts = { ...noLocations, loaders: 'lazy', documents: 'compiled' };

export const BASELINE = 'baseline';
/** Where the talk ended. */
export const END_STATE = 'compiled';
export const CRIER = 'crier';

/** From the bottom up. */
export const rungs: readonly Rung[] = [
  {
    ...historical(BASELINE, 'baseline', 'for browsers', baseline),
    talk: { received: 16, sent: 56_000, idleMegabytes: 600 },
  },
  {
    ...historical('once-per-record', 'control: converted once per record', 'for browsers', {
      ...baseline,
      convertsAt: 'consumption',
    }),
    talk: undefined,
    isControl: true,
  },
  {
    ...historical('lazy-backends', 'lazy backends', 'for browsers', lazyBackends),
    talk: { received: 13, sent: 52_000, words: 'idle plateau lower' },
  },
  {
    ...historical('iteration', 'snake_case by native iteration', 'for browsers', iteration),
    talk: { words: 'a little above baseline' },
  },
  {
    name: 'pubsub',
    title: 'newer graphql-redis-subscriptions',
    pod: undefined,
    talk: { received: 20, sent: 72_000 },
    note: 'not run: all rungs have the one version that works with the graphql of today',
  },
  {
    ...historical('memoised', 'memoised snakeCase', 'for browsers', memoised),
    talk: { received: 69, sent: 276_000, words: 'flood curve flatter' },
  },
  {
    ...historical('node-target', 'compiled for Node', 'for Node', memoised),
    talk: { received: 75, sent: 300_000, words: 'peaks smaller' },
  },
  {
    ...historical('in-place', 'snake_case in place', 'for Node', inPlace),
    talk: { received: 117, sent: 476_000, words: 'flood flat, about 1 GB' },
  },
  {
    ...historical('no-locations', 'no locations in the AST', 'for Node', noLocations),
    talk: { words: 'a little more sent; just under 1 GB in the flood' },
  },
  {
    ...historical(END_STATE, 'lazy loaders, document cache, JIT', 'for Node', endState),
    talk: { idleMegabytes: 300, words: 'about the same sent' },
  },
  { name: CRIER, title: 'crier', pod: { ...crierPod, name: 'ladder-crier' }, talk: undefined },
];
