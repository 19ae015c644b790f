/** A parameter of a media type; its value may be a quoted string (RFC 9110, section 5.6.6). */
const PARAMETER = /;\s*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
/** Names of UTF-8, and of ASCII, which is UTF-8, too. */
const UTF8_NAMES: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

/** The type without its parameters, in lower case. */
export function mediaTypeOf(header = ''): string {
  return header.split(';', 1)[0]!.trim().toLowerCase();
}

/** True unless the type names a charset other than UTF-8. */
export function isUtf8(header = ''): boolean {
  for (const [, name, quoted, token] of header.matchAll(PARAMETER))
    if (name!.toLowerCase() === 'charset' && !UTF8_NAMES.has((quoted ?? token)!.toLowerCase())) return false;
  return true;
}

/** An `accept` header that spells UTF-8 in the one way that graphql-http knows. */
export function withPlainCharset(accept: string): string {
  return accept.replace(/charset="?utf-?8"?/gi, 'charset=utf-8');
}
