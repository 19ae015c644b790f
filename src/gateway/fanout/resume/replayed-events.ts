import type { HistoryEntry } from '../../../bus/history.ts';
import type { EventExecutor } from '../../../graph/execution/event-executor.ts';
import type { Payload } from '../../../graph/payload.ts';
import type { ChannelEvent } from '../channel-event.ts';
import type { GroupEvent, SharingGroup } from '../sharing/sharing-group.ts';
import { SharedEvent } from '../sharing/sharing.ts';
import type { SharingServices } from '../sharing/sharing.ts';
import { TombstoneEvent } from '../sharing/tombstone-event.ts';
import { heldLength } from './held-events.ts';
import type { HistoryReads } from './history-reads.ts';
import type { HeldBytes } from './replay-bytes.ts';

/** Sweeps after which an event is executed again, about 30 s: a backend's answer is not reused for longer. */
const MAX_SWEEPS = 6;
/** Memory of an event whose payload was parsed, per byte of its text. */
const PARSED_FACTOR = 4;

export interface ReplayedEventsServices {
  readonly executor: EventExecutor;
  readonly sharing: SharingServices;
  readonly heldBytes: HeldBytes;
}

/** An event with its results for each group. */
interface ReplayedEvent {
  /** In `#events`. */
  readonly key: string | ChannelEvent;
  readonly event: ChannelEvent;
  readonly results: Map<SharingGroup, GroupEvent>;
  /** Bytes that it counts for in `HeldBytes`, its results included. */
  bytes: number;
  /** Since the last sweep. */
  wasUsed: boolean;
  /** Sweeps since it was made. */
  sweeps: number;
}

/** The events of a channel's replays, parsed and executed once for those that share them, as long as the pod has room. */
export class ReplayedEvents {
  readonly #services: ReplayedEventsServices;
  readonly #reads: HistoryReads;
  /** By the id of their entry, if they have one. */
  readonly #events = new Map<string | ChannelEvent, ReplayedEvent>();

  /** @param reads are dropped before the events where room is short */
  constructor(services: ReplayedEventsServices, reads: HistoryReads) {
    this.#services = services;
    this.#reads = reads;
  }

  /** The event of this entry, if it is kept. */
  find({ coordinates }: HistoryEntry): ChannelEvent | undefined {
    return this.#events.get(coordinates.entry!)?.event;
  }

  /** Keeps the event, if none of its entry is kept. Returns the one that is kept, whose payload is parsed once. */
  keep(event: ChannelEvent): ChannelEvent {
    return this.#replayedOf(event).event;
  }

  /** @param payload default: that of the event. The same for all members of a group. */
  resultsOf(event: ChannelEvent, group: SharingGroup, payload?: Payload): GroupEvent {
    if (!group.isReplay) return this.#share(event, group, payload);
    const replayed = this.#replayedOf(event);
    let results = replayed.results.get(group);
    if (!results) {
      results = this.#share(replayed.event, group, payload, (bytes) => this.#onKeep(replayed, bytes));
      replayed.results.set(group, results);
    }
    return results;
  }

  /**
   * Drops what can be read or executed again, until there is room or nothing is left. What was executed first is dropped first: the clients
   * advance together, so the next ones need the latest events.
   */
  makeRoom(bytes: number): void {
    const { heldBytes } = this.#services;
    if (heldBytes.hasRoom(bytes)) return;
    this.#reads.drop(false);
    for (const replayed of this.#events.values()) {
      if (heldBytes.hasRoom(bytes)) return;
      this.#drop(replayed);
    }
  }

  /** Drops events that were not used since the last sweep or are too old, and results of groups without members. */
  sweep(): void {
    for (const replayed of this.#events.values()) {
      if (!replayed.wasUsed || ++replayed.sweeps === MAX_SWEEPS) this.#drop(replayed);
      replayed.wasUsed = false;
      for (const group of replayed.results.keys()) if (group.members.size === 0) replayed.results.delete(group);
    }
  }

  #replayedOf(event: ChannelEvent): ReplayedEvent {
    const key = event.coordinates?.entry ?? event;
    let replayed = this.#events.get(key);
    if (!replayed) {
      const bytes = heldLength(PARSED_FACTOR * event.length);
      this.makeRoom(bytes);
      this.#services.heldBytes.add(bytes);
      this.#events.set(key, (replayed = { key, event, results: new Map(), bytes, wasUsed: true, sweeps: 0 }));
    }
    replayed.wasUsed = true;
    return replayed;
  }

  #share(
    channelEvent: ChannelEvent,
    group: SharingGroup,
    payload: Payload = channelEvent.payload,
    onKeep?: (bytes: number) => void,
  ): GroupEvent {
    const { executor, sharing } = this.#services;
    const started = executor.startEvent(payload, group.operation);
    const shared = new SharedEvent(group, started, sharing, { channelEvent, onKeep });
    return channelEvent.isTombstone ? new TombstoneEvent(executor, shared) : shared;
  }

  #onKeep(replayed: ReplayedEvent, bytes: number): void {
    if (this.#events.get(replayed.key) !== replayed) return;
    this.makeRoom(bytes);
    if (this.#events.get(replayed.key) !== replayed) return;
    this.#services.heldBytes.add(bytes);
    replayed.bytes += bytes;
  }

  #drop({ key, bytes }: ReplayedEvent): void {
    this.#events.delete(key);
    this.#services.heldBytes.release(bytes);
  }
}
