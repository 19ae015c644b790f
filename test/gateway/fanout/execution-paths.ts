import type { StageOptions } from './stage.ts';

/** The ways in which an event is executed. All must give the same results. */
export const EXECUTION_PATHS: readonly (readonly [title: string, options: Partial<StageOptions>])[] = [
  ['with slots of a template', { hasProjection: true, jitAfterUses: 1 }],
  ['compiled', { hasProjection: false, jitAfterUses: 1 }],
  ['by graphql-js', { hasProjection: false, jitAfterUses: 0 }],
];
