import { parseFrozen } from '../json/frozen.ts';
import type { Sheet, Stencil } from './projection/template.ts';

/** What an event brings. */
export interface Payload {
  /**
   * One for all who execute the event. What a resolver wrote into it others would read as if it had been sent, without having asked
   * what it was made of, so nobody can.
   * @throws SyntaxError
   */
  readonly value: unknown;
  /** What a stencil prints of it; undefined where it prints nothing. */
  readonly printed?: (stencil: Pick<Stencil, 'print'>) => Sheet | undefined;
  /** The same payload with a value of its own. */
  readonly copy?: () => Payload;
}

/** The JSON text of a record, parsed when somebody asks for its value. */
export class TextPayload implements Payload {
  readonly #text: Buffer;
  readonly #onBroken: () => void;
  #parsed: { readonly value: unknown } | undefined;
  #isBroken = false;
  /** Operations that differ in their variables only have one stencil. */
  readonly #sheets = new Map<Pick<Stencil, 'print'>, Sheet | undefined>();

  /**
   * @param text in UTF-8; nobody changes it
   * @param onBroken called once, when it turns out not to be JSON
   */
  constructor(text: Buffer, onBroken: () => void = () => undefined) {
    this.#text = text;
    this.#onBroken = onBroken;
  }

  get value(): unknown {
    try {
      return (this.#parsed ??= { value: parseFrozen(this.#text.toString()) }).value;
    } catch (error) {
      if (!this.#isBroken) this.#onBroken();
      this.#isBroken = true;
      throw error;
    }
  }

  printed(stencil: Pick<Stencil, 'print'>): Sheet | undefined {
    if (this.#sheets.has(stencil)) return this.#sheets.get(stencil);
    const sheet = stencil.print(this.#text);
    this.#sheets.set(stencil, sheet);
    return sheet;
  }

  copy(): TextPayload {
    return new TextPayload(this.#text);
  }
}
