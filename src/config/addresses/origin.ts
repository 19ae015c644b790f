import type { IncomingHttpHeaders } from 'node:http';
import { hostnameOf, isFixedHostname } from './host.ts';

export interface Origins {
  /** Origins as browsers send them, or `*`. */
  readonly allowed: readonly string[];
  /** The server's own; '': any whose host and port are those of the `Host` header. */
  readonly own: string;
}

/** Why a request may not use the server. */
export interface OriginRefusal {
  /** As a metric label. */
  readonly reason: 'origin' | 'host';
  readonly status: 403 | 421;
  readonly text: string;
}

const OTHER_ORIGIN: OriginRefusal = {
  reason: 'origin',
  status: 403,
  text: 'This origin is not allowed; the server allows those in its setting ALLOWED_ORIGINS',
};
const OTHER_HOST: OriginRefusal = {
  reason: 'host',
  status: 421,
  text: 'The Host header has neither the name of PUBLIC_ORIGIN nor one of ALLOWED_ORIGINS; a proxy must pass on the Host that the client sent',
};

/**
 * Why the page or program that sent these headers may not use the server; undefined: it may. If the server's own origin is known, `Host`
 * must have its name, or that of a listed origin: a browser sends no Origin with a GET of the page's own origin, and a page whose name an
 * attacker points to this server (DNS rebinding) is one. Ports do not count, because a proxy may change them.
 */
export function originRefusal(headers: IncomingHttpHeaders, origins: Origins): OriginRefusal | undefined {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origins.allowed.includes('*')) return undefined;
  if (!isOriginAllowed(origin, host, origins)) return OTHER_ORIGIN;
  if (origin === undefined && (site === 'cross-site' || site === 'same-site')) return OTHER_ORIGIN;
  return host === undefined || isOwnHost(host, origins) ? undefined : OTHER_HOST;
}

/**
 * True if a request with this Origin may use the server: without an Origin (not a browser), from a listed origin, or from the
 * server's own. Origins must be equal as texts. If the server's own is not known, it must have the host and port of the
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
  return host !== undefined && isSite(origin) && new URL(origin).host === host;
}

/** True for the origin of a site as browsers send it: scheme and host in lower case, no default port, nothing after them, no wildcard. */
export function isSiteOrigin(text: string): boolean {
  return isSite(text) && !text.includes('*') && new URL(text).origin === text;
}

/** Schemes of addresses that no page has as its origin, or that pages of everybody share. */
const NO_PAGES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file', 'data', 'blob', 'about']);

/** Schemes are in lower case (RFC 3986, section 3.1). What follows is the app's own text, such as an extension's id. */
const APP_ORIGIN = /^([a-z][a-z\d+.-]*):\/\/[^\s/?#@*,"]+$/;

/**
 * True for the origin of a site, and for that of an app or extension: `capacitor://localhost`, `chrome-extension://…`. `URL` knows no origin of
 * these, so they are compared as texts.
 */
export function isOrigin(text: string): boolean {
  const [, scheme] = APP_ORIGIN.exec(text) ?? [];
  return isSiteOrigin(text) || (scheme !== undefined && !NO_PAGES.has(scheme));
}

/** How a text is written that is meant as an origin; '' where that is not clear. */
export function originFix(text: string): string {
  if (text.includes('@')) return '';
  if (text.includes('*')) return '; a wildcard within an origin matches nothing: list each origin';
  if (text === 'null') return '; files and sandboxed pages of everybody have this one: give the page an origin';
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text);
  // Development servers have no certificate.
  const scheme = isFixedHostname(hostnameOf(text) ?? '') ? 'http' : 'https';
  const url = hasScheme ? text : `${scheme}://${text}`;
  if (!URL.canParse(url) || !(hasScheme || /[.:]|^localhost$/.test(text))) return '';
  const origin = originOf(url);
  if (!isOrigin(origin)) return '';
  return text === `${origin}/` ? `; remove the slash at its end: ${origin}` : `; write ${origin}`;
}

/** With the scheme of pages where a WebSocket's address is given. */
function originOf(url: string): string {
  const { origin, protocol, host } = new URL(url.replace(/^ws(?=s?:)/i, 'http'));
  return origin === 'null' && host !== '' ? `${protocol}//${host}` : origin;
}

function isOwnHost(host: string, { allowed, own }: Origins): boolean {
  if (own === '') return true;
  const hostname = hostnameOf(host);
  if (hostname === undefined) return false;
  return (
    isFixedHostname(hostname) ||
    [own, ...allowed].some((origin) => isSite(origin) && hostnameOf(new URL(origin).host) === hostname)
  );
}

/** True for an address whose host is a name of the network: that of an app's origin is none. */
function isSite(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text);
}
