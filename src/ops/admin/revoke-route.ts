import type { ClaimEquality } from '../../gateway/identity/revocation.ts';
import { printRevocation } from '../../gateway/identity/revocation.ts';
import { MAX_REVOCATIONS } from '../../gateway/identity/revocations.ts';
import type { Revocations } from '../../gateway/identity/revocations.ts';
import type { SharedRevocations } from '../../gateway/identity/shared-revocations.ts';
import { readBody } from '../../gateway/http/request-body.ts';
import { sendJson, sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import type { Logger } from '../../base/log.ts';
import { NOT_ASKED } from './peers.ts';
import type { Answers, Peers } from './peers.ts';
import type { PodAnswer, PodQuestion } from './pod-connections.ts';
import { parseRevokeRequest, prolonged, revocationOf } from './revoke-request.ts';
import type { RevokeRequest } from './revoke-request.ts';

export interface RevokeRouteOptions {
  readonly peers: Peers<PodQuestion, PodAnswer>;
  readonly revocations: Revocations;
  readonly shared: SharedRevocations;
  readonly log: Logger;
  /** Called for a revocation that is not kept, because there are too many. */
  readonly onRefused: () => void;
}

const MAX_BODY_BYTES = 16_384;

/** `nothing`: no token is to be refused. */
type Outcome = 'kept' | 'full' | 'away' | 'nothing';

interface Result {
  readonly asked: Answers<PodAnswer>;
  readonly outcome: Outcome;
  /** In ms since 1970; undefined: tokens are not refused. */
  readonly untilMs?: number;
  /** True if a pod has seen tokens that live longer than `untilMs`. */
  readonly isTooShort?: boolean;
}

const NOTES: Readonly<Record<Exclude<Outcome, 'kept'>, string>> = {
  full: `connections were closed, but their tokens are accepted again: ${MAX_REVOCATIONS} revocations are kept already; wait until some have ended, or name a claim that more tokens have`,
  away: 'Redis did not accept it: only this pod refuses tokens; it tells the others when Redis is back, unless it ends before: repeat the request then',
  nothing: 'no token is refused: clients may connect again',
};

const TOO_SHORT = 'some tokens live longer than that: repeat the request';

/** `POST /admin/connections/revoke`. */
export function revokeRoute(options: RevokeRouteOptions): Route {
  const { log } = options;
  return {
    methods: ['POST'],
    handle: async (request, response) => {
      const text = await readBody(request, MAX_BODY_BYTES);
      if (text === undefined) {
        response.setHeader('connection', 'close');
        return sendText(response, 413, `a body may have ${MAX_BODY_BYTES} bytes\n`);
      }
      const asked = parseRevokeRequest(text);
      if (typeof asked === 'string') return sendText(response, 400, `${asked}\n`);
      const result = await revoke(asked, options);
      const body = bodyOf(result);
      const { selection, reason } = asked;
      const claim = 'connection' in selection ? undefined : selection.name;
      const { closed, until, silent } = body;
      log.warn({ claim, reason, closed, until, silent }, 'an operator revoked connections');
      sendJson(response, statusOf(result), body);
    },
  };
}

async function revoke(request: RevokeRequest, options: RevokeRouteOptions): Promise<Result> {
  const { selection } = request;
  if (!('connection' in selection)) return revokeClaim(selection, request, options);
  const asked = await options.peers.ask({ close: selection.connection });
  const { tokenId, issuer } = asked.answers.find(({ answer }) => answer.tokenId !== undefined)?.answer ?? {};
  if (tokenId === undefined) return { asked, outcome: 'nothing' };
  const result = await revokeClaim({ name: 'jti', value: tokenId, ...(issuer && { issuer }) }, request, options);
  return { ...result, asked: { ...result.asked, answers: sum(asked, result.asked) } };
}

async function revokeClaim(claim: ClaimEquality, request: RevokeRequest, options: RevokeRouteOptions): Promise<Result> {
  const { peers, revocations, shared, onRefused } = options;
  const revocation = revocationOf(claim, request, revocations.longestLifeMs);
  const text = printRevocation(revocation);
  const { untilMs } = revocation;
  const { isFull } = revocations;
  // Pods count what they close for the question, so it has to arrive before the revocation itself.
  const asking = peers.ask({ revoke: text });
  if (request.forMs === 0) return { asked: await asking, outcome: 'nothing' };
  const keeping: Outcome | Promise<Outcome> = isFull ? 'full' : shared.keep(text, untilMs);
  const [asked, outcome] = await Promise.all([asking, keeping]);
  if (outcome !== 'full') {
    const lives = asked.answers.map(({ answer }) => answer.longestLifeMs ?? 0);
    const longer = request.forMs === undefined ? prolonged(revocation, Math.max(0, ...lives)) : undefined;
    if (!longer) return { asked, outcome, untilMs };
    const isLonger = (await shared.keep(printRevocation(longer), longer.untilMs)) === 'kept';
    return { asked, outcome, untilMs: isLonger ? longer.untilMs : untilMs, isTooShort: !isLonger };
  }
  onRefused();
  return { asked, outcome };
}

/** The connections that were closed for two questions, by pod. */
function sum(first: Answers<PodAnswer>, second: Answers<PodAnswer>): Answers<PodAnswer>['answers'] {
  const closed = new Map<string, number>();
  for (const { pod, answer } of [...first.answers, ...second.answers])
    closed.set(pod, (closed.get(pod) ?? 0) + (answer.closed ?? 0));
  return Array.from(closed, ([pod, count]) => ({ pod, answer: { closed: count } }));
}

function bodyOf({ asked: { answers, silent, isAsked }, outcome, untilMs, isTooShort = false }: Result) {
  const pods = answers.map(({ pod, answer: { closed = 0 } }) => ({ pod, closed }));
  const notes = [
    ...(outcome === 'kept' ? [] : [NOTES[outcome]]),
    ...(isTooShort ? [TOO_SHORT] : []),
    ...(isAsked ? [] : [`only this pod has closed connections: ${NOT_ASKED}`]),
    ...(silent.length === 0
      ? []
      : [
          `${silent.join(', ')} have not answered, and ${untilMs === undefined ? 'may have closed nothing: repeat the request' : 'act as soon as they reach Redis'}`,
        ]),
  ];
  return {
    closed: pods.reduce((total, { closed }) => total + closed, 0),
    /** When revoked tokens are accepted again. */
    until: untilMs === undefined ? null : new Date(untilMs).toISOString(),
    pods,
    silent,
    ...(notes.length > 0 && { note: notes.join('; ') }),
  };
}

/** 200: on all pods; 202: on some pods later, or for a shorter time than tokens live. */
function statusOf({ asked: { silent, isAsked }, outcome, isTooShort = false }: Result): number {
  if (outcome === 'full') return 507;
  return outcome === 'away' || silent.length > 0 || !isAsked || isTooShort ? 202 : 200;
}
