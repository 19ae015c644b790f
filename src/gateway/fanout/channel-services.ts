import type { History, HistoryEntry } from '../../bus/history.ts';
import type { ChannelLoad } from '../../bus/flow/channel-load.ts';
import type { Intake } from '../../bus/flow/intake.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import type { LogWindow, Logger } from '../../base/log.ts';
import type { EventTraces } from '../../ops/tracing/event-traces.ts';
import type { CursorPosition } from './resume/cursor.ts';
import type { CursorSecret } from './resume/cursor-secret.ts';
import type { HeldBytes } from './resume/replay-bytes.ts';
import type { Replays } from './resume/replays.ts';
import type { GroupDelivery } from './group-delivery.ts';
import type { RowDeliveries } from './row-deliveries.ts';
import type { EventScheduler } from './scheduling/event-scheduler.ts';
import type { EventExecutor } from '../../graph/execution/event-executor.ts';
import type { SharingServices } from './sharing/sharing.ts';

/**
 * What a client that requests to resume gets, as a metric label: all missed events (`resumed`), or `resumed: false`. `cursor_invalid`: not a
 * cursor of this channel that crier signed; `no_history`: the field keeps none; `incomplete`: the history does not prove completeness, or
 * cannot be read; `overflow`: more events arrived meanwhile than the pod can hold.
 */
export type ResumeOutcome = 'resumed' | 'cursor_invalid' | 'no_history' | 'incomplete' | 'overflow';

/**
 * Why events may be missing. bus: messages of Redis did not arrive; epoch: a worker began anew, because records or leases were gone or an
 * operator set its offset; room: the pod had no room to hold them; error: a message could not be delivered; moved: the operation reads other
 * channels since a reload or a refresh.
 */
export type GapReason = (typeof GAP_REASONS)[number];
export const GAP_REASONS = ['bus', 'epoch', 'room', 'error', 'moved'] as const;

export type SkipReason = 'pace' | 'slow';

export interface ChannelObserver {
  /** A message of a channel reached this pod and is delivered. @param isOfWorker false: another program published it */
  onEvent(isOfWorker: boolean): void;
  /** A message of another program is not JSON or too long. */
  onUnrecognisedMessage(): void;
  /** A message is discarded: it was delivered before, or is older than a delivered one. */
  onStale(): void;
  /** `operations` (a count) receive `gap: true` with their next event. */
  onGap(operations: number, reason: GapReason): void;
  /**
   * An event is delivered instead of `events` (a count) older ones of its key: `pace`: to all members of a group, `slow`: to one that does not
   * keep up.
   */
  onSkipped(events: number, reason: SkipReason): void;
  /** A client requested to resume. */
  onResume(outcome: ResumeOutcome): void;
}

export interface ChannelFlow {
  /** The intake of a partition of the channel's topic. */
  intake(channel: string, partition: number): Intake;
  /** Counts the executions of one channel, which keeps it. */
  load(): ChannelLoad;
}

/** Shared by all channels of a hub. */
export interface ChannelServices {
  readonly executor: EventExecutor;
  readonly sharing: SharingServices;
  readonly scheduler: EventScheduler;
  /** Events have no cursor while it has no cursors. */
  readonly secret: Pick<CursorSecret, 'cursors'>;
  /** Reads all events after a position; undefined if completeness cannot be proved. Never rejects. */
  readonly missed: (channel: string, seen: CursorPosition) => Promise<readonly HistoryEntry[] | undefined>;
  /** Reads a history from an entry on, or its last entry; undefined if the bus does not answer. Never rejects. */
  readonly read: (channel: string, from: string | undefined) => Promise<History | undefined>;
  /** undefined: flow control is off. */
  readonly flow: ChannelFlow | undefined;
  /** undefined: no event is traced. */
  readonly traces: EventTraces | undefined;
  /** Longest message of another program. */
  readonly maxMessageBytes: number;
  /** Delivers the events of channels without a pace. */
  readonly delivery: GroupDelivery;
  readonly rows: RowDeliveries;
  readonly replays: Replays;
  readonly heldBytes: HeldBytes;
  readonly log: Logger;
  readonly names: SettingNames;
  readonly logWindow: LogWindow;
  readonly observer: ChannelObserver;
}
