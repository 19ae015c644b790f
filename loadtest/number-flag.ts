/** Parses a flag's whole number from 1. @throws Error naming the flag. */
export function numberFlag(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${flag}: expected a whole number from 1, got "${text}"`);
  return Number(text);
}
