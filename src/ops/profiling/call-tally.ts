import type { CallFrame, CpuProfile, CpuProfileNode } from './cpu-profile.ts';

/** A call, by its callers. */
interface TalliedCall {
  readonly frame: CallFrame;
  samples: number;
  /** By `keyOf` of their frames. */
  callees: Map<string, TalliedCall> | undefined;
}

/** Its time begins at 0 and has no pauses. */
export type TalliedProfile = Required<CpuProfile>;

/** Calls that are kept apart; each of them may have one callee `(other)` besides. 10,000 take 6.3 MB. */
const MAX_CALLS = 10_000;
/** Longest function name and longest URL that is kept. A name may come from a client: compiled queries have the names of their aliases. */
const MAX_NAME_LENGTH = 200;

/** Stands for the calls that found no room, below the caller that has. */
const OTHER: CallFrame = { functionName: '(other)', url: '', lineNumber: -1, columnNumber: -1 };
const ROOT: CallFrame = { ...OTHER, functionName: '(root)' };

/** Sums the samples of consecutive CPU profiles by stack. Its memory has a bound, however long the process lives. */
export class CallTally {
  readonly #root: TalliedCall = { frame: ROOT, samples: 0, callees: undefined };
  readonly #intervalUs: number;
  readonly #maxCalls: number;
  #calls = 1;

  /** @param intervalUs the time that one sample stands for, in µs */
  constructor(intervalUs: number, maxCalls = MAX_CALLS) {
    this.#intervalUs = intervalUs;
    this.#maxCalls = maxCalls;
  }

  /** Adds the samples of a profile. V8 records 255 frames of a stack at most, so the recursion is bounded. */
  add({ nodes }: Pick<CpuProfile, 'nodes'>): void {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const merge = (call: TalliedCall, { hitCount = 0, children = [] }: CpuProfileNode): void => {
      call.samples += hitCount;
      for (const id of children) {
        const node = byId.get(id)!;
        merge(this.#calleeOf(call, node.callFrame), node);
      }
    };
    if (nodes[0]) merge(this.#root, nodes[0]);
  }

  /** The sum as a profile. Its samples are in the order of the tree, one for each call, so that a chart of its time shows a flame graph. */
  profile(): TalliedProfile {
    const nodes: CpuProfileNode[] = [];
    const samples: number[] = [];
    const timeDeltas: number[] = [];
    let timeUs = 0;
    /** Of the sample before. */
    let durationUs = 0;
    const visit = ({ frame, samples: hitCount, callees }: TalliedCall): number => {
      const id = nodes.length + 1;
      const children: number[] = [];
      nodes.push({ id, callFrame: { ...frame, scriptId: '0' }, hitCount, children });
      if (hitCount > 0) {
        samples.push(id);
        timeDeltas.push(durationUs);
        durationUs = hitCount * this.#intervalUs;
        timeUs += durationUs;
      }
      for (const callee of callees?.values() ?? []) children.push(visit(callee));
      return id;
    };
    const root = visit(this.#root);
    // A sample lasts until the next one.
    samples.push(root);
    timeDeltas.push(durationUs);
    return { nodes, samples, timeDeltas, startTime: 0, endTime: timeUs };
  }

  #calleeOf(caller: TalliedCall, frame: CallFrame): TalliedCall {
    if (caller.frame === OTHER) return caller;
    const key = keyOf(frame);
    const known = caller.callees?.get(key);
    if (known) return known;
    const callees = (caller.callees ??= new Map<string, TalliedCall>());
    if (this.#calls >= this.#maxCalls) return addTo(callees, '', OTHER);
    this.#calls++;
    const { functionName, url, lineNumber, columnNumber } = frame;
    return addTo(callees, key, { functionName: bounded(functionName), url: bounded(url), lineNumber, columnNumber });
  }
}

function addTo(callees: Map<string, TalliedCall>, key: string, frame: CallFrame): TalliedCall {
  const known = callees.get(key);
  if (known) return known;
  const call = { frame, samples: 0, callees: undefined };
  callees.set(key, call);
  return call;
}

/** Functions whose names differ only beyond the limit are one call. */
function keyOf({ functionName, url, lineNumber, columnNumber }: CallFrame): string {
  return `${bounded(functionName)}\n${bounded(url)}:${lineNumber}:${columnNumber}`;
}

/** The beginning of a text; a copy, because V8 keeps a text alive as long as a slice of it. */
function bounded(text: string): string {
  return text.length <= MAX_NAME_LENGTH ? text : Buffer.from(text.slice(0, MAX_NAME_LENGTH)).toString();
}
