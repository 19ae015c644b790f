/** In place of a value that is not shown. */
export const NOT_SHOWN = 'a value that may hold a password and is not shown';

/** True of a secret, and of a value with `@`, as in a URL with a password. */
export function mayHoldPassword(value: string, isSecret: boolean): boolean {
  return isSecret || value.includes('@');
}

/** The line about a variable whose value cannot be used. */
export function refusal(name: string, value: string, expects: string, isSecret = false): string {
  const got = mayHoldPassword(value, isSecret) ? NOT_SHOWN : JSON.stringify(value);
  return `${name}: expected ${expects}, got ${got}`;
}
