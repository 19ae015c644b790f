import { renewalProperty } from '../gateway/fanout/sharing/random-renewals.ts';
import { resolverProperty } from '../gateway/fanout/sharing/random-resolvers.ts';
import { selectionProperty } from '../gateway/fanout/sharing/random-selections.ts';
import { documentProperty } from '../graph/support/random-documents.ts';
import { refusalProperty } from '../graph/support/random-refusals.ts';
import { changeProperty } from '../kafka/decoding/envelopes/random-changes.ts';
import { rewritingProperty } from '../kafka/decoding/random-records.ts';
import { batchProperty } from '../kafka/client/fetching/random-batches.ts';
import { integers } from './integers.ts';
import type { FuzzKind } from './kind.ts';
import { numbers } from './numbers.ts';
import { protocol } from './protocol.ts';
import { tokens } from './tokens.ts';
import { variables } from './variables.ts';

/**
 * protocol: bytes on a connection. tokens: tokens of any claims, changed on their way. documents: valid subscriptions. refusals: documents
 * with random edits. variables: JSON values. numbers: numbers that a double cannot tell apart, through a server. integers: the same and
 * others, through its parts. changes: change records, rewritten and parsed. records: Kafka records. batches: compressed
 * batches of any shape. resolvers: resolvers that read random facts. selections:
 * arguments that select events by lists and `where`. renewals: claims that
 * change, and users that are revoked, while events are executed.
 */
export const KINDS: Readonly<Record<string, FuzzKind>> = {
  protocol,
  tokens,
  documents: { shortRuns: 100, property: () => Promise.resolve(documentProperty()) },
  refusals: { shortRuns: 300, property: () => Promise.resolve(refusalProperty()) },
  variables,
  numbers,
  integers,
  changes: { shortRuns: 300, property: () => Promise.resolve(changeProperty()) },
  records: { shortRuns: 500, property: () => Promise.resolve(rewritingProperty()) },
  batches: { shortRuns: 30, property: () => Promise.resolve(batchProperty()) },
  resolvers: { shortRuns: 20, property: () => Promise.resolve(resolverProperty()) },
  selections: { shortRuns: 20, property: () => Promise.resolve(selectionProperty()) },
  renewals: { shortRuns: 100, property: () => Promise.resolve(renewalProperty()) },
};
