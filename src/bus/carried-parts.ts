/** What the messages of a topic carry of their records beside the payload. */
export interface PartsDemand {
  readonly key: boolean;
  /** Names, each once. */
  readonly headers: readonly string[];
  /** True: they carry what tells the records of one key from those of another. */
  readonly id?: true;
}

/**
 * The demanded parts of one record. null: the record does not have the part, or it is no text. A part that was not demanded when the
 * record was published is absent.
 */
export interface CarriedParts {
  readonly key?: string | null;
  readonly headers: Readonly<Record<string, string | null>>;
  /** Equal for records of equal keys, also of binary ones. */
  readonly id?: string | null;
  /** The other parts exceed `MAX_PARTS_LENGTH`. */
  readonly isOmitted?: true;
}

/** In bytes, of the text in a message's header (base64, so parts of 3,000 bytes fit). Histories and states keep it with each message. */
export const MAX_PARTS_LENGTH = 4096;

/** Stands for parts that exceed `MAX_PARTS_LENGTH`, where no `id` was demanded. */
export const OMITTED_PARTS = '-';

const FIELD = ' record=';

/** Text that may follow ` record=` in a message's header (`redis/message-header.ts`). */
export function printParts(parts: CarriedParts): string {
  const text = JSON.stringify(parts);
  if (text.length > MAX_PARTS_LENGTH) return OMITTED_PARTS;
  const encoded = Buffer.from(text).toString('base64url');
  return encoded.length <= MAX_PARTS_LENGTH ? encoded : OMITTED_PARTS;
}

/** undefined: they were omitted, or the text is none of `printParts`. */
export function parseParts(text: string): CarriedParts | undefined {
  try {
    const { headers, ...others } = JSON.parse(Buffer.from(text, 'base64url').toString()) as CarriedParts;
    return { ...others, headers: Object.assign(Object.create(null) as Record<string, string | null>, headers) };
  } catch {
    return undefined;
  }
}

/** The field at the end of a header that carries the parts. */
export function printPartsField(text: string): string {
  return FIELD + text;
}

/** The text of the parts that a header's fields carry; undefined: none. */
export function partsOfFields(fields: string): string | undefined {
  return / record=(\S+)/.exec(fields)?.[1];
}

export function unionOf(a: PartsDemand | undefined, b: PartsDemand): PartsDemand {
  if (!a) return b;
  const union = { key: a.key || b.key, headers: [...new Set([...a.headers, ...b.headers])] };
  return a.id || b.id ? { ...union, id: true } : union;
}
