import { isIP } from 'node:net';

/** The name or address in a Host header, without its port and brackets; undefined if it has none. */
export function hostnameOf(host: string): string | undefined {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : undefined;
}

/** True for a name that nobody can point to another machine. The Host of a page whose name was pointed to this one (DNS rebinding) is none. */
export function isFixedHostname(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname) > 0;
}
