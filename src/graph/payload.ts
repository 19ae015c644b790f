import { isDeletion } from '../bus/bus-message.ts';
import { rowOfChange } from '../bus/change-text.ts';
import type { Change } from '../bus/change-text.ts';
import type { Coordinates } from '../bus/coordinates.ts';
import { parseFrozen } from '../base/json/frozen.ts';
import type { PathReader } from '../base/json/path-reader.ts';
import type { RenderedTemplate, Template } from './projection/rendered-template.ts';

/** The payload of one event. */
export interface Payload {
  /**
   * Frozen, because all executions of the event share it: a resolver that could write to it would pass on what it read of its
   * connection, and no fact read would show it.
   * @throws SyntaxError
   */
  readonly value: unknown;
  /** Renders a template with this payload; undefined where that is not possible. Absent where the payload has no text. */
  readonly render?: (template: Pick<Template, 'render'>) => RenderedTemplate | undefined;
  /** The values at a reader's paths; undefined: read them in `value`. Absent where the payload has no text. */
  readonly valuesAt?: (reader: PathReader) => readonly unknown[] | undefined;
  /** Where it comes from; absent: not from a channel. */
  readonly channel?: string;
  /** Of its message; absent: no worker published it. */
  readonly coordinates?: Coordinates | undefined;
  /** What happened to the row that the payload is; absent: its topic has no `envelope`, or the message says nothing of it. */
  readonly change?: Change | undefined;
  /** The same payload; its value is a different object. */
  readonly copy?: () => Payload;
}

/**
 * A payload as JSON text, parsed when its value is first read. A worker whose graph has an `envelope` for the topic may have published it: then it is
 * the row of a change.
 */
export class TextPayload implements Payload {
  readonly channel: string;
  readonly coordinates: Coordinates | undefined;
  #text: Buffer;
  readonly #onBroken: () => void;
  #parsed: { readonly value: unknown } | undefined;
  #isBroken = false;
  /** What `#reader` has read. */
  #values: readonly unknown[] | undefined;
  #reader: PathReader | undefined;
  /** By template: operations that differ only in their variables share one. */
  readonly #rendered = new Map<Pick<Template, 'render'>, RenderedTemplate | undefined>();

  /**
   * @param text in UTF-8; must not change
   * @param onBroken called once, at the first read, if the text is not JSON
   */
  constructor(text: Buffer, onBroken: () => void = () => undefined, channel = '', coordinates?: Coordinates) {
    this.channel = channel;
    this.coordinates = coordinates;
    this.#text = text;
    this.#onBroken = onBroken;
  }

  get value(): unknown {
    try {
      return (this.#parsed ??= { value: this.#parse() }).value;
    } catch (error) {
      if (!this.#isBroken) this.#onBroken();
      this.#isBroken = true;
      throw error;
    }
  }

  /** True if its record deletes what the channel is about. */
  get isDeletion(): boolean {
    return isDeletion(this.#text);
  }

  /** Its text gets memory of its own, if it is a part of a read: it is kept for longer than that. */
  detach(): void {
    if (this.#text.length === this.#text.buffer.byteLength) return;
    const own = Buffer.allocUnsafeSlow(this.#text.length);
    own.set(this.#text);
    this.#text = own;
  }

  /** In UTF-8. */
  protected get text(): Buffer {
    return this.#text;
  }

  #parse(): unknown {
    try {
      return parseFrozen(this.#text.toString());
    } catch (error) {
      const row = rowOfChange(this.#text);
      if (!row) throw error;
      return parseFrozen(row.toString());
    }
  }

  render(template: Pick<Template, 'render'>): RenderedTemplate | undefined {
    if (this.#rendered.has(template)) return this.#rendered.get(template);
    const rendered = template.render(this.#text);
    this.#rendered.set(template, rendered);
    return rendered;
  }

  valuesAt(reader: PathReader): readonly unknown[] | undefined {
    if (this.#reader === reader) return this.#values;
    if (this.#parsed) return undefined;
    this.#reader = reader;
    this.#values = reader.read(this.#text);
    return this.#values;
  }

  copy(): TextPayload {
    return new TextPayload(this.#text, undefined, this.channel, this.coordinates);
  }
}
