import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import type { Figures } from './figures.ts';

/** In MB. 16 is what V8 takes by itself on 64 bits. */
export const SEMI_SPACE_MEGABYTES = [16, 64, 128, 256] as const;

export interface SemiSpaceRow {
  readonly megabytes: number;
  readonly measured: Figures;
}

/** crier whose young generation's semi-spaces may grow to this size. */
export function semiSpacePod(megabytes: number): Pod {
  return {
    ...crierPod,
    name: `ladder-semi-space-${megabytes}`,
    title: `crier, semi-space ${megabytes} MB`,
    nodeArguments: [`--max-semi-space-size=${megabytes}`],
  };
}
