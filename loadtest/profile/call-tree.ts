import type { CallFrame, CpuProfile, CpuProfileNode } from '../../src/ops/profiling/cpu-profile.ts';

/** A call and its callees. */
export interface Call {
  readonly frame: CallFrame;
  readonly selfUs: number;
  /** Including its callees. */
  readonly totalUs: number;
  readonly callees: readonly Call[];
}

/** V8's name for the time in which the process waits. */
const IDLE = '(idle)';

/** The tree of calls, without idle time. */
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
