import type { ChangeDemand } from '../../bus/change-text.ts';
import type { PartsDemand } from '../../bus/carried-parts.ts';
import type { HistoryLimits } from '../../bus/history.ts';
import type { KeyNaming } from '../../base/json/key-naming.ts';
import type { FilterRule } from '../filter/filter-rule.ts';
import type { Match } from './match.ts';
import type { PaceRule } from './pace-binding.ts';
import type { StateLimits } from './state-binding.ts';
import type { TombstoneAction } from './tombstone-binding.ts';
import type { FieldTopics } from './topics.ts';
import type { Where } from './claim-where.ts';

/** The checked @kafka directive of a Subscription field. */
export interface Binding extends FieldTopics {
  readonly field: string;
  /** Of the records of its topics; undefined: another field of the topic says it, or each record does. */
  readonly format?: string | undefined;
  /** Whose newest schema decodes records that name none; likewise said by one field. */
  readonly subject?: string | undefined;
  /** How the topic's records carry rows that changed; the same for all bindings of a topic. undefined: a record is the payload itself. */
  readonly envelope?: string | undefined;
  /** True: rows that were read from a table become the state, and are no events. */
  readonly skipsSnapshots?: boolean;
  /** True: rows before a change are whole. One binding says it for its topic. */
  readonly hasWholeRows?: boolean;
  /** The same for all bindings of a topic. Absent: SNAKE. */
  readonly keys?: KeyNaming;
  readonly match: readonly Match[];
  readonly where: readonly Where[];
  /** Choose among the events of the channels, by the values of arguments. */
  readonly filters?: readonly FilterRule[];
  /** Path of the field's value in the converted payload; [] is the whole payload. */
  readonly payload: readonly string[];
  /** True if connections that agree on all facts that an execution read get its result (gateway/fanout/sharing/sharing.ts). */
  readonly isShared: boolean;
  /** How many events a channel keeps for clients that resume; undefined: none. */
  readonly history?: HistoryLimits | undefined;
  /** True if a subscription starts with the latest event of the history. */
  readonly replaysLast?: boolean;
  /** How long a channel keeps its last payload, with which a subscription begins; undefined: it keeps none. */
  readonly state?: StateLimits | undefined;
  /** What its events carry of their records; undefined: nothing. */
  readonly record?: PartsDemand;
  /** What the @changes that its field reaches read of the changes of rows; undefined: the topic has no envelope. */
  readonly change?: ChangeDemand;
  /** undefined: each event reaches each subscription. */
  readonly pace?: PaceRule;
  /** undefined: tombstones are skipped. */
  readonly tombstone?: TombstoneAction;
}
