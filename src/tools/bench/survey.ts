import { OperationEndedError, Stage } from '../conformance/stage.ts';
import type { ProtocolMessage } from '../conformance/message.ts';
import type { Feed, Need, Subject } from '../conformance/subject.ts';
import { SetupError } from '../../base/errors.ts';
import type { Bench } from './arguments.ts';
import type { EventTrigger } from './trigger.ts';

/** A subscription that ends by itself has ended this long after its first event. */
const GOES_ON_MS = 500;

const ENDED = 'the subscription ended by itself; needs one that goes on';

/** Finds out what of the server the rows may use. @throws SetupError if it refuses the subscription or the trigger */
export async function survey(bench: Bench, trigger: EventTrigger | undefined): Promise<Subject> {
  const { subscription, refusedParams } = bench;
  const missing = new Map<Need, string>();
  const feed = subscription && { operation: subscription, trigger: trigger && (() => trigger.send()) };
  const subject: Subject = { ...bench, missing, feed: () => feed! };
  const stage = new Stage(subject, bench.timeoutMs);
  try {
    if (!refusedParams) missing.set('refused params', 'needs --refused-params, which the server refuses');
    const refusal = await refusalOfQuery(stage);
    if (refusal !== undefined)
      missing.set(
        'query',
        `the server refused ${bench.query.query}: ${refusal}; --query names another, if it runs queries over the WebSocket`,
      );
    if (feed) await tryEvents(stage, feed, missing);
    else
      for (const need of ['subscription', 'events'] as const)
        missing.set(need, 'needs --subscription, one that goes on');
  } finally {
    await stage.close();
  }
  return subject;
}

/** What the server said instead of data. */
async function refusalOfQuery(stage: Stage): Promise<string | undefined> {
  try {
    const socket = await stage.connect();
    stage.ask(socket, 'query');
    const answer = await socket.next();
    const { data, errors } = (answer.payload ?? {}) as { data?: unknown; errors?: unknown };
    if (answer.type === 'next' && data) return undefined;
    return errorText({ ...answer, payload: errors ?? answer.payload });
  } catch (error) {
    return (error as Error).message;
  }
}

/** Adds what the subscription does not do to `missing`. */
async function tryEvents(stage: Stage, feed: Feed, missing: Map<Need, string>): Promise<void> {
  const socket = await stage.connect();
  const { query, variables } = feed.operation;
  socket.subscribe('a', query, variables);
  const [first] = await socket.roundTrip().catch((error: unknown) => {
    throw new SetupError(`the server did not accept the subscription: ${(error as Error).message}`, { cause: error });
  });
  if (first?.type === 'error') throw new SetupError(`the server refused the subscription: ${errorText(first)}`);
  const { errors } = (first?.payload ?? {}) as { errors?: unknown };
  if (errors) throw new SetupError(`the subscription brings errors: ${errorText({ ...first!, payload: errors })}`);
  socket.terminate();
  const fresh = await stage.connect();
  try {
    await stage.start(fresh, 'a', feed);
    if (!(await fresh.nextOf('a', GOES_ON_MS))) return;
  } catch (error) {
    if (error instanceof SetupError) throw error;
    if (!(error instanceof OperationEndedError)) {
      const fix = feed.trigger ? 'does --trigger cause one?' : '--trigger names a mutation that causes one;';
      missing.set('events', `${(error as Error).message}; ${fix} --timeout waits longer`);
      return;
    }
  }
  for (const need of ['subscription', 'events'] as const) missing.set(need, ENDED);
}

function errorText({ type, payload }: ProtocolMessage): string {
  const [error] = Array.isArray(payload) ? (payload as { message?: string }[]) : [];
  return error?.message ?? `${type} ${JSON.stringify(payload ?? '')}`;
}
