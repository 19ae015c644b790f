import { wordsOf } from '../variable.ts';

/** How crier does its work unless `DISABLE` names it: clients receive the same without it. */
const TECHNIQUES = [
  'sharing',
  'projection',
  'jit',
  'key-rewriter',
  'write-batching',
  'document-cache',
  'compact-ast',
] as const;

/** What protects a pod and its backends unless `DISABLE` names it. */
const PROTECTIONS = ['flow-control', 'circuit-breaker', 'loop-lag', 'undecodable-limit'] as const;

const WORDS = [...TECHNIQUES, ...PROTECTIONS] as const;

/** A word of `DISABLE`. */
export type Technique = (typeof WORDS)[number];

export const techniquesVariables = {
  DISABLE: wordsOf(
    WORDS,
    `What is off: techniques, to find a fault (${listed(TECHNIQUES)}), and protections, which production needs (${listed(PROTECTIONS)}).`,
  ),
};

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
