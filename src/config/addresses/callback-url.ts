/** A first label of a host that stands for any: routers have a name for each pod. */
const ANY_LABEL = '*.';

/** What a server may read as other segments than the URL has: octets that it decodes, once or more often, and `..;` (path parameters). */
const HIDDEN_SEGMENTS = /%(?:25)*(?:2e|2f|5c)|\.\.(?:;|%(?:25)*3b)/i;

/** True for what `CALLBACK_URLS` may list: where URLs of callbacks begin. Without a path, clients could make crier post to every service there. */
export function isCallbackPrefix(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname, pathname, search, hash } = new URL(text);
  const isPlain = `${username}${password}${search}${hash}` === '' && !HIDDEN_SEGMENTS.test(pathname);
  return /^https?:$/.test(protocol) && isPlain && pathname !== '/' && isHost(hostname);
}

/** A first label that stands for any must have two others after it: all of `*.com` is not one owner's. */
function isHost(hostname: string): boolean {
  if (!hostname.includes('*')) return hostname !== '';
  const [, ...labels] = hostname.split('.');
  return hostname.startsWith(ANY_LABEL) && !labels.join().includes('*') && labels.filter(Boolean).length > 1;
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
