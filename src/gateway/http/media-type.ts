/** A parameter of a media type; its value may be a quoted string (RFC 9110, section 5.6.6). */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
/** Names of UTF-8, and of ASCII, which is UTF-8, too. */
const UTF8_NAMES: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

/** The type without its parameters, in lower case. */
export function mediaTypeOf(header = ''): string {
  return header.split(';', 1)[0]!.trim().toLowerCase();
}

/** By their names in lower case; of several of one name, the first. */
export function parametersOf(header = ''): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name, quoted, token] of header.matchAll(PARAMETER)) {
    const key = name!.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token!);
  }
  return parameters;
}

/** True unless the parameters of a type name a charset other than UTF-8. */
export function isUtf8(parameters: ReadonlyMap<string, string>): boolean {
  const charset = parameters.get('charset');
  return charset === undefined || UTF8_NAMES.has(charset.toLowerCase());
}
