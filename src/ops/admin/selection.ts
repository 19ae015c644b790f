import { MAX_NAME_LENGTH, MAX_VALUE_LENGTH, claimText, hasClaim } from '../../gateway/identity/revocation.ts';
import type { ClaimEquality } from '../../gateway/identity/revocation.ts';
import type { ListedConnection } from '../../gateway/connections/listed-connection.ts';

/** Which connections an operator means: one by its id, or all with a claim. */
export type Selection = { readonly connection: string } | ClaimEquality;

const NAMES = ['sub', 'jti', 'connection', 'claim'] as const;
const ISSUER = 'iss';

const EXPECTED = `expected exactly one of ${NAMES.join(', ')}`;
const EXPECTED_CLAIM = 'claim: expected { "name": …, "value": … }';

/** The selection that a JSON object has, or why it has none. Its other members are not looked at. */
export function selectionOf(body: Readonly<Record<string, unknown>>): Selection | string {
  const given = NAMES.filter((name) => body[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1) return `${EXPECTED}, got ${given.join(' and ') || 'none'}`;
  const selection = name === 'claim' ? claimSelection(body[name]) : textSelection(name, body[name]);
  return typeof selection === 'string' || body[ISSUER] === undefined ? selection : ofIssuer(selection, body[ISSUER]);
}

/** The selection of a query: `?sub=…`, `?jti=…`, `?connection=…`, or `?claim=<name>&value=…`, and `&iss=…`. */
export function selectionOfQuery({ searchParams }: URL): Selection | string {
  const query = Object.fromEntries(searchParams);
  const { claim, value, ...rest } = query;
  return selectionOf(claim === undefined ? rest : { ...rest, claim: { name: claim, value } });
}

export function isSelected(connection: ListedConnection, selection: Selection): boolean {
  if ('connection' in selection) return connection.id === selection.connection;
  const { knownClaims } = connection;
  return knownClaims !== undefined && hasClaim(knownClaims, selection);
}

function textSelection(name: 'sub' | 'jti' | 'connection', given: unknown): Selection | string {
  const value = textOf(given);
  if (value === undefined) return `${name}: expected a text of 1 to ${MAX_VALUE_LENGTH} characters`;
  return name === 'connection' ? { connection: value } : { name, value };
}

/** Only with the claims of this issuer. */
function ofIssuer(selection: Selection, given: unknown): Selection | string {
  if ('connection' in selection) return 'iss: expected with sub, jti or claim, got connection';
  const issuer = textOf(given);
  return issuer === undefined
    ? `iss: expected a text of 1 to ${MAX_VALUE_LENGTH} characters`
    : { ...selection, issuer };
}

function claimSelection(claim: unknown): ClaimEquality | string {
  if (typeof claim !== 'object' || claim === null) return EXPECTED_CLAIM;
  const { name, value, ...rest } = claim as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `${EXPECTED_CLAIM}, got ${JSON.stringify(unknown)}`;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH)
    return `claim.name: expected a text of 1 to ${MAX_NAME_LENGTH} characters`;
  const text = textOf(claimText({ value }, 'value'));
  if (text === undefined)
    return `claim.value: expected a text of 1 to ${MAX_VALUE_LENGTH} characters, a number or a boolean`;
  return { name, value: text };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= MAX_VALUE_LENGTH ? value : undefined;
}
