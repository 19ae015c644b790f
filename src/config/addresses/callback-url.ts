/** A first label of a host that stands for any: routers have a name for each pod. */
const ANY_LABEL = '*.';

/** Octets that a server may decode to other segments than the URL has. */
const HIDDEN_SEGMENTS = /%(?:2e|2f|5c)/i;

/** True for what `CALLBACK_URLS` may list: where URLs of callbacks begin. */
export function isCallbackPrefix(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname, pathname, search, hash } = new URL(text);
  const isPlain = `${username}${password}${search}${hash}` === '' && !HIDDEN_SEGMENTS.test(pathname);
  const host = hostname.startsWith(ANY_LABEL) ? hostname.slice(ANY_LABEL.length) : hostname;
  return /^https?:$/.test(protocol) && isPlain && host !== '' && !host.includes('*');
}

/**
 * True if results may be posted there: the scheme, host and port are those of a listed prefix, and the path is its path or below it. The pod
 * may reach services that its clients may not, so nothing else is posted to (server-side request forgery).
 */
export function isCallbackAllowed(url: URL, prefixes: readonly string[]): boolean {
  if (HIDDEN_SEGMENTS.test(url.pathname)) return false;
  return prefixes.some((prefix) => {
    const { protocol, hostname, port, pathname } = new URL(prefix);
    const path = pathname.replace(/\/$/, '');
    return (
      protocol === url.protocol &&
      port === url.port &&
      isHostOf(url.hostname, hostname) &&
      (url.pathname === path || url.pathname.startsWith(`${path}/`))
    );
  });
}

function isHostOf(host: string, listed: string): boolean {
  if (!listed.startsWith(ANY_LABEL)) return host === listed;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === listed.slice(1);
}
