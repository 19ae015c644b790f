/** A JSON Web Token, with or without a scheme before it: RFC 7519. */
const TOKEN = /^(?:\S+\s+)?[\w-]+\.([\w-]+)\.[\w-]+$/;

/** The claims of the first token among connection parameters. {}: there is none, or it cannot be read. */
export function claimsOf(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const value of Object.values(params)) {
    const [, payload] = (typeof value === 'string' && TOKEN.exec(value.trim())) || [];
    const claims = payload === undefined ? undefined : decoded(payload);
    if (claims) return claims;
  }
  return {};
}

function decoded(payload: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A claim by its name, or by names separated by dots; undefined: the token has none that can be compared. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  const value = Object.hasOwn(claims, path)
    ? claims[path]
    : path.split('.').reduce((inner: unknown, key) => memberOf(inner, key), claims);
  return typeof value === 'object' ? undefined : value;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
