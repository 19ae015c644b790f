import { TOKEN_PARAMETERS } from '../../graph/context/connection-facts.ts';
import type { ConnectionFacts, RequestSource } from '../../graph/context/connection-facts.ts';
import { headerOf } from '../connections/handshake-headers.ts';

/**
 * The token of a connection or request: from the `connection_init` payload, else from the Authorization header, else from the cookie of
 * this name. Never from the URL, which proxies and browsers log.
 *
 * A browser sends cookies with requests of any page, so a cookie counts only with an Origin header. The server has refused origins that
 * are not allowed before.
 */
export function tokenOf(
  { params, rawHeaders }: Pick<RequestSource, 'params' | 'rawHeaders'>,
  cookie: string,
): string | undefined {
  if (typeof params === 'object' && params !== null) {
    for (const name of TOKEN_PARAMETERS) {
      const value: unknown = Object.hasOwn(params, name) ? (params as Record<string, unknown>)[name] : undefined;
      if (typeof value === 'string' && value !== '') return withoutScheme(value);
    }
  }
  const authorization = headerOf(rawHeaders, 'authorization');
  if (authorization !== undefined && /^bearer /i.test(authorization)) return withoutScheme(authorization);
  if (cookie === '' || headerOf(rawHeaders, 'origin') === undefined) return undefined;
  return cookieOf(headerOf(rawHeaders, 'cookie') ?? '', cookie);
}

/** The token of a payload, alone, under the name that it has there. */
export type TokenParameter = Readonly<Record<string, unknown>>;

/** The payload of `connection_init` with the token of a sub-protocol, if it has none itself. */
export function withToken(params: unknown, token: string | undefined): unknown {
  if (token === undefined) return params;
  const payload = { ...(params as object | null | undefined) };
  return tokenParameterOf(payload) ? params : { ...payload, token };
}

/** undefined: the payload has none. */
export function tokenParameterOf(payload: Readonly<Record<string, unknown>>): TokenParameter | undefined {
  const name = TOKEN_PARAMETERS.find((parameter) => Object.hasOwn(payload, parameter));
  return name === undefined ? undefined : { [name]: payload[name] };
}

/** The source of a connection as if it had sent this token in the first place, instead of its own. */
export function refreshedSource(
  { id, headers, params, address }: ConnectionFacts,
  token: TokenParameter,
): RequestSource {
  const otherHeaders = Object.entries(headers).filter(([name]) => name !== 'authorization');
  return { id, rawHeaders: otherHeaders.flat(), params: { ...withoutTokenParameters(params), ...token }, address };
}

/** The source without its token, wherever it may be. */
export function withoutToken({ rawHeaders, params, ...rest }: RequestSource, cookie: string): RequestSource {
  const otherHeaders: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = name === 'cookie' ? withoutCookie(rawHeaders[i + 1]!, cookie) : rawHeaders[i + 1]!;
    if (name !== 'authorization') otherHeaders.push(rawHeaders[i]!, value);
  }
  return { ...rest, rawHeaders: otherHeaders, params: withoutTokenParameters(params ?? {}) };
}

function withoutTokenParameters(params: object): object {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !TOKEN_PARAMETERS.includes(name)));
}

function withoutScheme(value: string): string {
  return value.replace(/^bearer +/i, '').trim();
}

/** The value of a cookie (RFC 6265 section 5.4). */
function cookieOf(text: string, name: string): string | undefined {
  for (const pair of text.split(';')) {
    const [key, value] = pair.split(/=(.*)/s, 2);
    if (key!.trim() === name) return value?.trim().replace(/^"(.*)"$/, '$1') || undefined;
  }
  return undefined;
}

function withoutCookie(text: string, cookie: string): string {
  const others = text.split(';').filter((pair) => cookie === '' || pair.split('=', 1)[0]!.trim() !== cookie);
  return others.join(';').trim();
}
