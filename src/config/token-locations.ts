/** Where a token may be beside `connection_init` and the Authorization header. */
export interface TokenLocations {
  /** Name of a cookie; '': none. */
  readonly cookie: string;
  /** Among the sub-protocols of a WebSocket, as `bearer.<token>`. */
  readonly isSubprotocolRead: boolean;
}

/** A name as RFC 6265 section 4.1.1 allows it. */
const COOKIE = /^cookie:([!#$%&'*+.^_`|~0-9A-Za-z-]+)$/;

/** Reads the entries of `JWT_LOCATIONS`. @returns the first that cannot be read: only one cookie can be */
export function parseTokenLocations(entries: readonly string[]): TokenLocations | string {
  let cookie = '';
  for (const entry of entries) {
    const [, name] = COOKIE.exec(entry) ?? [];
    if (name === undefined ? entry !== 'subprotocol' : cookie !== '') return entry;
    cookie = name ?? cookie;
  }
  return { cookie, isSubprotocolRead: entries.includes('subprotocol') };
}
