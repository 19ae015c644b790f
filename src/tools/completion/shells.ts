/** The shells that `crier completion` knows. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** What may follow the name of a command. */
export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  /** What its first argument may be; none: a file, or any text. */
  readonly words: readonly string[];
  /** Such as `--port`. */
  readonly options: readonly string[];
}
