import { channelKeys } from '../bus/channel.ts';
import { splitChange } from '../bus/change-text.ts';
import type { Change } from '../bus/change-text.ts';
import type { Coordinates } from '../bus/coordinates.ts';
import { freezeDeep } from '../base/json/frozen.ts';
import { valueAt } from '../base/json/value-at.ts';
import { textOf } from './compared-text.ts';
import type { EventFilter } from './filter/event-filter.ts';
import { TextPayload } from './payload.ts';
import { isHeaderPart, isRecordPart, pathInKey } from './record-parts.ts';

/** What a change is for a subscription: an event with the row, or the delete of a row that it may have. */
export type RowOutcome = 'present' | 'deleted';

/** Bytes of a payload without a row. */
const NO_ROW = Buffer.from('null');

/** The payload of a message of a topic with an `envelope`: the row, and what happened to it. */
export class RowPayload extends TextPayload {
  /** undefined: the message is a tombstone, or its topic had no envelope when it was published. */
  readonly change: Change | undefined;
  /** True if there is no row any more, in this channel at least. */
  readonly isDeleted: boolean;
  #withoutRow: RowPayload | undefined;
  #asItWas: RowPayload | undefined;

  constructor(
    row: Buffer,
    change: Change | undefined,
    onBroken?: () => void,
    channel?: string,
    coordinates?: Coordinates,
  ) {
    super(row, onBroken, channel, coordinates);
    this.change = change;
    this.isDeleted = row.equals(NO_ROW);
  }

  /** What the change is for subscriptions with this filter; undefined: nothing. */
  outcomeFor(filter: EventFilter | undefined): RowOutcome | undefined {
    if (this.isDeleted) return this.#wasIn(filter) !== false ? 'deleted' : undefined;
    if (!filter || filter.accepts(this)) return 'present';
    return this.#wasIn(filter) === true ? 'deleted' : undefined;
  }

  /** The payload of the delete for fields with `tombstone: NULL`. */
  get withoutRow(): RowPayload {
    return this.isDeleted ? this : (this.#withoutRow ??= this.#deleted(NO_ROW));
  }

  /** The row before the change, as the payload of the delete; undefined: it is not known. */
  get asItWas(): RowPayload | undefined {
    const before = this.change?.before;
    return before === undefined ? undefined : (this.#asItWas ??= this.#deleted(Buffer.from(JSON.stringify(before))));
  }

  override copy(): RowPayload {
    const change = this.change && structuredClone(this.change);
    if (change) freezeDeep(change);
    return new RowPayload(this.text, change, undefined, this.channel, this.coordinates);
  }

  /** True if the filter accepts the row before the change; undefined: that row is not known. */
  #wasIn(filter: EventFilter | undefined): boolean | undefined {
    const before = this.change?.before;
    return before === undefined ? undefined : !filter || filter.accepts({ value: before });
  }

  #deleted(row: Buffer): RowPayload {
    const change = Object.freeze({ ...this.change!, op: 'DELETE' as const });
    return new RowPayload(row, change, undefined, this.channel, this.coordinates);
  }
}

/** A value in the name of a channel, and where its rows have it. */
interface ChannelColumn {
  readonly path: readonly string[];
  readonly value: string;
  /** True: the key of the record has it, and its rows only if they have a column of that name. */
  readonly mayLack: boolean;
}

/** Reads the rows of one channel. */
export class RowReader {
  readonly #channel: string;
  readonly #columns: readonly ChannelColumn[];
  /** True: the channel is named by a header, which says nothing of the row before. */
  readonly #isOfHeader: boolean;

  constructor(channel: string) {
    const keys = channelKeys(channel);
    this.#channel = channel;
    this.#isOfHeader = keys.some(({ path, value }) => value !== undefined && isHeaderPart(path));
    this.#columns = keys.flatMap(({ path, value }) => {
      const inKey = pathInKey(path);
      if (value === undefined || (isRecordPart(path) && inKey === undefined)) return [];
      return { path: (inKey ?? path).split('.'), value, mayLack: inKey !== undefined };
    });
  }

  /** @param onBroken called if the change, or later the row, is not JSON: another program published the message. It has no change then. */
  read(payload: Buffer, coordinates: Coordinates, onBroken: () => void = () => undefined): RowPayload {
    const { row, change } = this.#split(payload, onBroken);
    return new RowPayload(row, change && this.#ownChange(change), onBroken, this.#channel, coordinates);
  }

  #split(payload: Buffer, onBroken: () => void): ReturnType<typeof splitChange> {
    try {
      return splitChange(payload);
    } catch {
      onBroken();
      return { row: payload.subarray(0, payload.indexOf(0x0a)), change: undefined };
    }
  }

  /**
   * The change without a row before that was in another channel, or may have been, such as that of another tenant: who receives this channel may
   * not see it. No message is to have one; this is what a leak would take beside that mistake.
   */
  #ownChange(change: Change): Change {
    const { before } = change;
    if (before === undefined) return change;
    const isOwn =
      before !== null &&
      !this.#isOfHeader &&
      this.#columns.every(({ path, value, mayLack }) => {
        const own = textOf(valueAt(before, path));
        return own === value || (mayLack && own === undefined);
      });
    return isOwn ? change : Object.freeze({ ...change, before: undefined });
  }
}
