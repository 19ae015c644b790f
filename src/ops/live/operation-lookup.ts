import { setImmediate as nextTurn } from 'node:timers/promises';
import { Kind, print, visit } from 'graphql';
import type { DocumentNode, EnumValueNode } from 'graphql';
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

/** Subscriptions that are looked at between two turns of the event loop. */
const SUBSCRIPTIONS_IN_A_TURN = 1000;
/** A page shows no more. */
const MAX_TEXT_LENGTH = 10_000;
const MAX_PATTERNS = 20;

/** In place of a value that a client wrote into its document: it may be a token, or name a person. */
const HIDDEN: EnumValueNode = { kind: Kind.ENUM, value: '…' };

/** Looks an operation up among all subscriptions of the pod when somebody asks; nothing is kept for it. Resolves with null if it is not known. */
export function operationLookup(options: OperationLookupOptions) {
  return async (name: OperationName): Promise<OperationDetails | null> => {
    const tallies = talliesOf(options.tallies, name);
    const [tally] = tallies;
    if (!tally) return null;
    const { document, channels } = await findSubscriptions(options, tally);
    const known = document ?? options.peekDocument(tally.document)?.document;
    return {
      text: known ? textOf(known) : null,
      subscriptions: tallies.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
      channels: channels.sort((a, b) => b.subscriptions - a.subscriptions).slice(0, MAX_PATTERNS),
    };
  };
}

function talliesOf({ entries }: OperationTallies, { document, operation }: OperationName): readonly OperationTally[] {
  return Array.from(entries, ([tally]) => tally).filter((tally) => {
    const name = nameOf(tally);
    return name.document === document && name.operation === operation;
  });
}

async function findSubscriptions({ hub, channelPrefix }: OperationLookupOptions, tally: OperationTally) {
  const patterns = new Map<string, { -readonly [Name in keyof PatternStats]: PatternStats[Name] }>();
  let document: DocumentNode | undefined;
  let seen = 0;
  for (const channel of hub.channels) {
    let subscriptions = 0;
    for (const operation of channel.operations()) {
      if (++seen % SUBSCRIPTIONS_IN_A_TURN === 0) await nextTurn();
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
