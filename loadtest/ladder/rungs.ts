import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { partsToEnvironment } from './pod/parts.ts';
import type { Parts } from './pod/parts.ts';

/** The talk's counts in four minutes of flood, and its heap in MB. Absent where the talk gave none. */
export interface TalkFigures {
  readonly received?: number;
  readonly sent?: number;
  readonly idleMegabytes?: number;
  /** The talk's description where it gave no figure. */
  readonly words?: string;
}

export interface Rung {
  readonly name: string;
  /** The change of this rung. It includes the changes of all earlier rungs. */
  readonly title: string;
  /** undefined if there is nothing to run; `note` gives the reason. */
  readonly pod: Pod | undefined;
  readonly talk: TalkFigures | undefined;
  readonly note?: string;
  /** A control, not a step: it shows the effect of one assumption. */
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
/** The last rung of the talk. */
export const END_STATE = 'compiled';
export const CRIER = 'crier';

/** In the order of the talk, then crier. */
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
    note: 'not run: every rung uses the only version that works with the current graphql',
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
