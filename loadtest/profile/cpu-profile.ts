/** What V8's profiler writes (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile). */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** In µs, from the sample before; of the first one from the start. */
  readonly timeDeltas: readonly number[];
}

export interface CpuProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

export interface CallFrame {
  readonly functionName: string;
  /** '' of what V8 itself does, and of code made from text. */
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

/** A call, with all that it called. */
export interface Call {
  readonly frame: CallFrame;
  readonly selfUs: number;
  /** With its callees. */
  readonly totalUs: number;
  readonly callees: readonly Call[];
}

/** Not work: the process waits. */
const IDLE = '(idle)';

/** The tree of calls, without the time in which the process waited. */
export function callTree({ nodes, samples, timeDeltas }: CpuProfile): Call {
  const selfUs = new Map<number, number>();
  samples.forEach((id, i) => {
    // A sample stands for the time until the next one.
    selfUs.set(id, (selfUs.get(id) ?? 0) + Math.max(0, timeDeltas[i + 1] ?? 0));
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callOf = ({ id, callFrame: frame, children = [] }: CpuProfileNode): Call => {
    const callees = children
      .map((child) => byId.get(child)!)
      .filter(({ callFrame }) => callFrame.functionName !== IDLE)
      .map(callOf);
    const self = selfUs.get(id) ?? 0;
    return { frame, selfUs: self, totalUs: callees.reduce((sum, { totalUs }) => sum + totalUs, self), callees };
  };
  return callOf(nodes[0]!);
}
