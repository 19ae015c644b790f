import type { Pod } from '../story/pods/pod.ts';
import { crierWith } from './crier-pod.ts';
import type { Figures } from './figures.ts';

/** Sizes in MB. 16 is V8's default on 64-bit systems. */
export const SEMI_SPACE_MEGABYTES = [16, 64, 128, 256, 512, 1024] as const;

export interface SemiSpaceRow {
  readonly megabytes: number;
  readonly measured: Figures;
}

/** crier whose young generation's semi-spaces may grow to this size. */
export function semiSpacePod(megabytes: number): Pod {
  return {
    ...crierWith({}),
    name: `ladder-semi-space-${megabytes}`,
    title: `crier, semi-space ${megabytes} MB`,
    nodeArguments: [`--max-semi-space-size=${megabytes}`],
  };
}
