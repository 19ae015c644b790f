import type { ClaimEquality, Revocation } from '../../gateway/identity/revocation.ts';
import { MAX_REASON_LENGTH } from '../../gateway/identity/revocation.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { selectionOf } from './selection.ts';
import type { Selection } from './selection.ts';

/** The body of `POST /admin/connections/revoke`. */
export interface RevokeRequest {
  readonly selection: Selection;
  /** How long it lasts, in ms; 0: only what is open is closed. undefined: as long as tokens live. */
  readonly forMs: number | undefined;
  /** For the log. */
  readonly reason: string;
}

const MEMBERS = ['sub', 'jti', 'connection', 'claim', 'iss', 'for', 'reason'];
const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DEFAULT_MS = 24 * UNITS_MS.h;
const MAX_MS = 366 * UNITS_MS.d;

/** The request, or why the text is none. */
export function parseRevokeRequest(text: string): RevokeRequest | string {
  let body: unknown;
  try {
    body = parseExactly(text);
  } catch {
    return 'expected a JSON object such as {"sub":"ida"}';
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'expected a JSON object';
  const members = body as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(members).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `${JSON.stringify(unknown)}: expected only ${MEMBERS.join(', ')}`;
  const selection = selectionOf(members);
  if (typeof selection === 'string') return selection;
  const { for: duration, reason = '' } = members;
  const forMs = duration === undefined ? undefined : durationOf(duration);
  if (duration !== undefined && forMs === undefined)
    return 'for: expected a whole number with s, m, h or d, such as "15m", of at most 366 days';
  if (typeof reason !== 'string' || reason.length > MAX_REASON_LENGTH)
    return `reason: expected a text of at most ${MAX_REASON_LENGTH} characters`;
  return { selection, forMs, reason };
}

/**
 * The revocation of a claim.
 * @param longestLifeMs for how long a token that the pod has seen is accepted at most
 */
export function revocationOf(
  claim: ClaimEquality,
  { forMs, reason }: Pick<RevokeRequest, 'forMs' | 'reason'>,
  longestLifeMs: number,
): Revocation {
  const atMs = Date.now();
  const lastsMs = Math.min(forMs ?? Math.max(DEFAULT_MS, longestLifeMs), MAX_MS);
  return { ...claim, atMs, untilMs: Math.ceil(atMs + lastsMs), reason };
}

/** The same revocation until every token of another pod has expired, too; undefined if it lasts that long already. */
export function prolonged(revocation: Revocation, longestLifeMs: number): Revocation | undefined {
  const untilMs = Math.ceil(revocation.atMs + Math.min(longestLifeMs, MAX_MS));
  return untilMs > revocation.untilMs ? { ...revocation, untilMs } : undefined;
}

/** In ms; undefined if the value is no duration. */
function durationOf(value: unknown): number | undefined {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(String(value)) ?? [];
  if (digits === undefined) return undefined;
  const ms = Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return ms <= MAX_MS ? ms : undefined;
}
