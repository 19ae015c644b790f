/**
 * Whether a request with this Origin may use the server: no Origin (not a browser), the server's own, or a listed one.
 * Compared exactly: scheme, host and port (a suffix or prefix match is a cross-site hijack waiting to happen).
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  const { host: originHost, protocol } = new URL(origin);
  return originHost === host && (protocol === 'http:' || protocol === 'https:');
}
