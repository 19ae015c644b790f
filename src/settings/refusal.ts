/** The line about a variable whose value cannot be used. */
export function refusal(name: string, value: string, expects: string): string {
  const isSecret = name.includes('PASSWORD') || name.includes('SECRET') || value.includes('@');
  return `${name}: expected ${expects}, got ${isSecret ? 'a value that may hold a password and is not shown' : JSON.stringify(value)}`;
}
