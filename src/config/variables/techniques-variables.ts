import { wordsOf } from '../variable.ts';

/** What crier does unless `DISABLE` names it. */
const TECHNIQUES = [
  'sharing',
  'projection',
  'jit',
  'key-rewriter',
  'write-batching',
  'document-cache',
  'compact-ast',
  'flow-control',
  'circuit-breaker',
  'loop-lag',
  'undecodable-limit',
] as const;

/** A word of `DISABLE`. */
export type Technique = (typeof TECHNIQUES)[number];

export const techniquesVariables = {
  DISABLE: wordsOf(
    TECHNIQUES,
    `Techniques that are off, to find faults, and protections that are off: ${TECHNIQUES.map((technique) => `\`${technique}\``).join(', ')}.`,
  ),
};
