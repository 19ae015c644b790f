/** A claim that a token must have, and the values that count. */
export interface RequiredClaim {
  readonly name: string;
  /** Texts; a number or boolean of a token counts as its JSON text. */
  readonly values: readonly string[];
}

/** A name or value that has a colon itself, as `cognito:groups`, needs the sign between them that it has not. */
const ENTRY = /^(?:([^:=]+):([^:=]+)|([^=]+)=(.+))$/;

/** Reads `client_id:app1|app2`, or `cognito:groups=admin`. undefined: it cannot be read. */
export function parseRequiredClaim(entry: string): RequiredClaim | undefined {
  const [, plain, plainValues, name = plain, given = plainValues] = ENTRY.exec(entry) ?? [];
  const values = given?.split('|').map((value) => value.trim());
  if (name === undefined || !values?.every((value) => value !== '')) return undefined;
  return { name: name.trim(), values };
}

/** Claims whose text is a list separated by spaces: RFC 8693, section 4.2, and Microsoft's name for it. */
const SCOPES: ReadonlySet<string> = new Set(['scope', 'scp']);

/** True if the claim is one of the values, or a list of which one is. */
export function hasRequiredClaim(claims: Readonly<Record<string, unknown>>, { name, values }: RequiredClaim): boolean {
  const claim = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const items = typeof claim === 'string' && SCOPES.has(name) ? claim.split(' ') : [claim].flat();
  return items.some((item) => isScalar(item) && values.includes(String(item)));
}

function isScalar(item: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof item);
}
