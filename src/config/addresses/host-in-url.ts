import { isIPv6 } from 'node:net';

/** Replaces a wildcard address, which a browser cannot open, and puts an IPv6 address in brackets (RFC 3986, section 3.2.2). */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}
