/** In place of a value that is not shown. */
export const NOT_SHOWN = 'a value that may hold a password and is not shown';

/** True of a secret, and of a value with `@`, as in a URL with a password, or with a query, which may hold a key. */
export function mayHoldPassword(value: string, isSecret: boolean): boolean {
  return isSecret || /@|:\/\/[^?]*\?/.test(value);
}

/** A URL as logs and messages have it. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/**
 * The line about a variable whose value cannot be used.
 * @param fix of a value that is shown
 */
export function refusal(name: string, value: string, expects: string, isSecret = false, fix = ''): string {
  const got = mayHoldPassword(value, isSecret) ? NOT_SHOWN : JSON.stringify(value) + fix;
  return `${name}: expected ${expects}, got ${got}`;
}
