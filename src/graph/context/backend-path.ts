/**
 * Refuses a path that could leave the backend's base URL. A client's argument in a path can then choose neither another host nor
 * another part of the backend.
 * @throws TypeError naming the rule; without the path, which may hold a client's data.
 */
export function assertBackendPath(path: string): void {
  const problem = problemOf(path);
  if (problem) throw new TypeError(`backend request: the path ${problem}`);
}

function problemOf(path: unknown): string | undefined {
  if (typeof path !== 'string') return `must be a string, got ${typeof path}`;
  if (!path.startsWith('/')) return 'must start with "/"';
  if (path.startsWith('//')) return 'must not start with "//"';
  // Printable ASCII without space, "#" and "\": a request line holds these unchanged.
  if (!/^[!"$-[\]-~]+$/.test(path)) return 'must be percent-encoded (encodeURIComponent) and without "#" and "\\"';
  const decoded = path
    .split('?', 1)[0]!
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c/gi, '/');
  if (decoded.split('/').some((segment) => /^\.\.?(;|$)/.test(segment))) {
    return 'must not hold "." or ".." as a segment';
  }
  return undefined;
}
