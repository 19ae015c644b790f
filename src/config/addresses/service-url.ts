/** What a refused URL with user and password lacks most often. */
export const PERCENT_ENCODED = 'with user and password percent-encoded';

/**
 * True for an http:// or https:// URL whose user and password, if it has them, are percent-encoded (RFC 3986, section 3.2.1). A `/`, `?`, `#`
 * or `\` of a password ends the host: the URL is then one of another host, with an `@` after it.
 */
export function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  if (!/^https?:$/.test(protocol) || `${pathname}${search}${hash}`.includes('@')) return false;
  return [username, password].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
