/** The line about a variable whose value cannot be used. A value with `@`, as in a URL with a password, is not shown either. */
export function refusal(name: string, value: string, expects: string, isSecret = false): string {
  const got =
    isSecret || value.includes('@') ? 'a value that may hold a password and is not shown' : JSON.stringify(value);
  return `${name}: expected ${expects}, got ${got}`;
}
