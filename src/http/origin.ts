export interface Origins {
  /** Origins as browsers send them, or `*`. */
  readonly allowed: readonly string[];
  /** The server's own; '': any whose host and port are those of the `Host` header. */
  readonly own: string;
}

/**
 * True if a request with this Origin may use the server: without an Origin (not a browser), from a listed origin, or from the
 * server's own. Origins must be equal in scheme, host and port. If the server's own is not known, it must have the host and port of the
 * `Host` header; its scheme may then be http or https, because a proxy may be in front of the server. A page whose name an attacker points
 * to this server (DNS rebinding) also has that host: only a known origin refuses it. Nothing matches by prefix or suffix: that would permit
 * cross-site hijacking.
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string | undefined,
  { allowed, own }: Origins,
): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true;
  if (own !== '') return origin === own;
  if (host === undefined || !URL.canParse(origin)) return false;
  const { host: originHost, protocol } = new URL(origin);
  return originHost === host && isHttp(protocol);
}

/** True for an origin as browsers send it: scheme and host in lower case, no default port, nothing after them, no wildcard. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || text.includes('*')) return false;
  const { origin, protocol } = new URL(text);
  return origin === text && isHttp(protocol);
}

function isHttp(protocol: string): boolean {
  return protocol === 'http:' || protocol === 'https:';
}
