import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { partsToEnvironment } from './pod/parts.ts';
import type { Parts } from './pod/parts.ts';
import { talk } from '../story/report/talk-figures.ts';
import type { TalkFigures } from '../story/report/talk-figures.ts';

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

/** Sizes in MB of V8's young generation. 16 is V8's default on 64-bit systems. */
export const SEMI_SPACE_MEGABYTES = [16, 64, 128, 256, 512, 1024] as const;

const baseline: Parts = {
  backends: 'eager',
  loaders: 'eager',
  snakeCase: 'chain',
  convertsAt: 'delivery',
  documents: 'with-locations',
};

function historical(name: string, title: string, build: Build, parts: Parts, figures?: TalkFigures): Rung {
  const script = `ladder/${build === 'for Node' ? 'pod' : 'pod-browser'}/main.js`;
  const pod = { name: `ladder-${name}`, title, script, environment: partsToEnvironment(parts) };
  return { name, title, pod, talk: figures };
}

function crier(name: string, title: string, settings: Readonly<Record<string, string>>): Rung {
  return { name, title, pod: { ...crierWith(settings), name: `ladder-${name}`, title }, talk: undefined };
}

function onceFor(parts: Parts): Parts {
  return { ...parts, convertsAt: 'consumption' };
}

const lazyBackends: Parts = { ...baseline, backends: 'lazy' };
const iteration: Parts = { ...lazyBackends, snakeCase: 'iteration' };
const memoised: Parts = { ...iteration, snakeCase: 'memoised' };
const inPlace: Parts = { ...memoised, snakeCase: 'in-place' };
const noLocations: Parts = { ...inPlace, documents: 'without-locations' };
const endState: Parts = { ...noLocations, loaders: 'lazy', documents: 'compiled' };

/** crier as `npm start` runs it, with the built-in graph and these settings. */
function crierWith(settings: Readonly<Record<string, string>>): Pick<Pod, 'script' | 'environment' | 'nodeArguments'> {
  return { ...crierPod, environment: { ...crierPod.environment, GRAPH: '', ...settings } };
}

/** crier whose young generation's semi-spaces may grow to this size. */
export function semiSpacePod(megabytes: number): Pod {
  return {
    ...crierWith({}),
    ...{ name: `ladder-semi-space-${megabytes}`, title: `crier, semi-space ${megabytes} MB` },
    nodeArguments: [`--max-semi-space-size=${megabytes}`],
  };
}

/** Every technique that crier adds is off. */
const endStateSettings = { DISABLE: 'write-batching,projection,sharing,key-rewriter' };
const oneWrite = { DISABLE: 'projection,sharing,key-rewriter' };
const projection = { DISABLE: 'sharing,key-rewriter' };
const sharing = { DISABLE: 'key-rewriter' };

export const BASELINE = 'baseline';
/** The last rung of the talk. */
export const END_STATE = 'compiled';
export const CRIER = 'crier';

/** In the order of the talk, then crier's techniques. All but the light graph serve the schema of the built-in one. */
export const rungs: readonly Rung[] = [
  historical(BASELINE, 'baseline', 'for browsers', baseline, talk.baseline),
  {
    ...historical('once-per-record', 'control: converted once per record', 'for browsers', onceFor(baseline)),
    isControl: true,
  },
  historical('lazy-backends', 'lazy backends', 'for browsers', lazyBackends, talk.lazyBackends),
  historical('iteration', 'snake_case by native iteration', 'for browsers', iteration, talk.iteration),
  {
    ...{ name: 'pubsub', title: 'newer graphql-redis-subscriptions', pod: undefined, talk: talk.pubsub },
    note: 'not run: every rung uses the only version that works with the current graphql',
  },
  historical('memoised', 'memoised snakeCase', 'for browsers', memoised, talk.memoised),
  historical('node-target', 'compiled for Node', 'for Node', memoised, talk.nodeTarget),
  historical('in-place', 'snake_case in place', 'for Node', inPlace, talk.inPlace),
  historical('no-locations', 'no locations in the AST', 'for Node', noLocations, talk.noLocations),
  historical(END_STATE, 'lazy loaders, document cache, JIT', 'for Node', endState, talk.end),
  historical('converted-once', 'converted once for each record', 'for Node', onceFor(endState)),
  crier('transport', "the same on crier's transport", endStateSettings),
  crier('one-write', 'one write for each socket and turn', oneWrite),
  crier('projection', 'projection: fields copied from the record', projection),
  crier('sharing', 'sharing: one execution for equal results', sharing),
  { ...crier(CRIER, 'crier', {}), note: 'default settings: the key rewriter as well' },
  {
    ...{ name: 'light-graph', title: 'control: crier, light graph', talk: undefined, isControl: true },
    pod: { ...crierPod, name: 'ladder-light-graph', title: 'crier, light graph' },
  },
];
