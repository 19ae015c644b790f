/**
 * True if a request with this Origin may use the server: without an Origin (not a browser), from a listed origin, or from the
 * server's own. A listed origin must be equal in scheme, host and port. The server's own origin must have the host and port of the
 * `Host` header; its scheme may be http or https, because the server does not know the scheme of a proxy in front of it. Nothing
 * matches by prefix or suffix: that would permit cross-site hijacking.
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
