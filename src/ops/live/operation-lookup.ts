import { GraphQLError, Kind, print, visit } from 'graphql';
import type { DocumentNode, EnumValueNode } from 'graphql';
import { orAborted } from '../../base/or-aborted.ts';
import { turnPause } from '../../base/turn-pause.ts';
import { channelPattern } from '../../bus/channel.ts';
import type { Hub } from '../../gateway/fanout/hub.ts';
import type { ValidDocument } from '../../graph/documents/operation.ts';
import type { OperationTallies } from '../../graph/documents/operation-tallies.ts';
import type { OperationTally } from '../../graph/documents/operation-tally.ts';
import { nameOf } from '../debug/operation-name.ts';
import type { OperationName } from '../debug/operation-name.ts';
import type { OperationDetails, PatternStats } from './stats.ts';

export interface OperationLookupOptions {
  readonly tallies: OperationTallies;
  readonly hub: Pick<Hub, 'channels'>;
  /** A cached document by the SHA-256 of its text. */
  readonly peekDocument: (key: string) => Pick<ValidDocument, 'document'> | undefined;
  readonly channelPrefix: string;
}

/**
 * Looks an operation up. Resolves with null if it is not known.
 * @param left aborted when the caller has gone
 * @throws GraphQLError if too many lookups are under way; the signal's reason
 */
export type OperationLookup = (name: OperationName, left: AbortSignal) => Promise<OperationDetails | null>;

/** Time in ms for lookups in one turn of the event loop. */
const SLICE_MS = 1;
/** One runs, and the others wait. */
const MAX_LOOKUPS = 10;
/** A page shows no more. */
const MAX_TEXT_LENGTH = 10_000;
const MAX_PATTERNS = 20;

/** In place of a value that a client wrote into its document: it may be a token, or name a person. */
const HIDDEN: EnumValueNode = { kind: Kind.ENUM, value: '…' };

/** Looks operations up among all subscriptions of the pod when somebody asks, one after another; nothing is kept for it. */
export function operationLookup(options: OperationLookupOptions): OperationLookup {
  const pause = turnPause(SLICE_MS);
  let last: Promise<unknown> = Promise.resolve();
  let lookups = 0;
  return async (name, left) => {
    if (lookups === MAX_LOOKUPS)
      throw new GraphQLError(`${MAX_LOOKUPS} lookups of operations are under way: ask again later`);
    lookups++;
    const lookup = last.then(() => find(options, name, () => pauseUnlessLeft(pause, left)));
    last = lookup.catch(() => undefined);
    return orAborted(lookup, left, () => left.reason as Error).finally(() => lookups--);
  };
}

type Pause = () => Promise<void> | undefined;

function pauseUnlessLeft(pause: Pause, left: AbortSignal): Promise<void> | undefined {
  left.throwIfAborted();
  return pause();
}

async function find(
  options: OperationLookupOptions,
  name: OperationName,
  pause: Pause,
): Promise<OperationDetails | null> {
  await pause();
  const tallies = talliesOf(options.tallies, name);
  const [tally] = tallies;
  if (!tally) return null;
  const { document, channels } = await findSubscriptions(options, tally, pause);
  const known = document ?? options.peekDocument(tally.document)?.document;
  return {
    text: known ? textOf(known) : null,
    subscriptions: tallies.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
    channels: channels.sort((a, b) => b.subscriptions - a.subscriptions).slice(0, MAX_PATTERNS),
  };
}

function talliesOf({ entries }: OperationTallies, { document, operation }: OperationName): readonly OperationTally[] {
  return Array.from(entries, ([tally]) => tally).filter((tally) => {
    const name = nameOf(tally);
    return name.document === document && name.operation === operation;
  });
}

async function findSubscriptions({ hub, channelPrefix }: OperationLookupOptions, tally: OperationTally, pause: Pause) {
  const patterns = new Map<string, { -readonly [Name in keyof PatternStats]: PatternStats[Name] }>();
  let document: DocumentNode | undefined;
  for (const channel of hub.channels) {
    let subscriptions = 0;
    for (const operation of channel.operations()) {
      const paused = pause();
      if (paused) await paused;
      if (operation.key !== tally.document || operation.tally.name !== tally.name) continue;
      document ??= operation.document;
      subscriptions++;
    }
    if (subscriptions === 0) continue;
    const pattern = channelPattern(channel.name, channelPrefix);
    const counts = patterns.get(pattern) ?? { pattern, channels: 0, subscriptions: 0, largest: 0 };
    counts.channels++;
    counts.subscriptions += subscriptions;
    counts.largest = Math.max(counts.largest, subscriptions);
    patterns.set(pattern, counts);
  }
  return { document, channels: [...patterns.values()] };
}

function textOf(document: DocumentNode): string {
  const hide = () => HIDDEN;
  const text = print(visit(document, { IntValue: hide, FloatValue: hide, StringValue: hide }));
  const rest = text.length - MAX_TEXT_LENGTH;
  return rest > 0 ? `${text.slice(0, MAX_TEXT_LENGTH)}\n# ${rest} characters more` : text;
}
