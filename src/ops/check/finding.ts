/** One line of `crier check`. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** What was checked, and what was found; a failure says why and how to correct it. */
  readonly text: string;
}

export const ok = (text: string): Finding => ({ status: 'ok', text });
export const warning = (text: string): Finding => ({ status: 'warning', text });
export const failed = (text: string): Finding => ({ status: 'failed', text });
export const skipped = (text: string): Finding => ({ status: 'skipped', text });
