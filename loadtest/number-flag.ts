/** Parses a flag's whole number from `least`. @throws Error naming the flag. */
export function numberFlag(flag: string, text: string, least = 1): number {
  if (!/^\d+$/.test(text) || Number(text) < least) {
    throw new Error(`--${flag}: expected a whole number from ${least}, got "${text}"`);
  }
  return Number(text);
}
