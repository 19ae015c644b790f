/** What an event brings. */
export interface Payload {
  /** @throws SyntaxError */
  readonly value: unknown;
  /** JSON text of the value, in UTF-8; undefined where there is none. */
  readonly text?: Buffer | undefined;
}

/** The JSON text of a record, parsed when somebody asks for its value. */
export class TextPayload implements Payload {
  /** Nobody changes it. */
  readonly text: Buffer;
  #parsed: { readonly value: unknown } | undefined;

  constructor(text: Buffer) {
    this.text = text;
  }

  /** @throws SyntaxError when the text is not JSON */
  get value(): unknown {
    return (this.#parsed ??= { value: JSON.parse(this.text.toString()) as unknown }).value;
  }
}
