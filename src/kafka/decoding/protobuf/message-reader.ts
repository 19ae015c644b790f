import { generatedFunction } from '../generated-function.ts';
import type { RecordBytes } from '../record-bytes.ts';
import type { ReadBody } from './message-body.ts';
import { GROUP, LENGTH_DELIMITED, skipField } from './proto-scalars.ts';

/**
 * @param into a message that is merged with this one
 * @param endTag of the group that the message is; 0: it ends with the bytes
 */
export type ReadMessage = (
  bytes: RecordBytes,
  levels: number,
  into: unknown,
  endTag: number,
) => Record<string, unknown>;

/** A field of a message that is not dropped. */
export interface MessageField {
  /** In the payload. */
  readonly name: string;
  readonly id: number;
  readonly wireType: number;
  readonly repeated: boolean;
  /** One field of it can be set. undefined: the field is alone. */
  readonly oneof: string | undefined;
  readonly read: ReadBody;
  /** Source of the value of a field that is not in the bytes. JSON has no `undefined`: such a key is not printed. */
  readonly initial: string;
}

/** Of `"":,`. */
const FIELD_WIDTH = 4;
/** Of `0,`. */
const MIN_ITEM_WIDTH = 2;

/** Reads the fields in any order to an object. Generated, like the reader of a record of Avro. */
export function messageReader(fields: readonly MessageField[]): ReadMessage {
  const width = fields.reduce((sum, field) => sum + field.name.length + FIELD_WIDTH + initialWidth(field), 2);
  const hasLists = fields.some(({ repeated, initial }) => repeated || initial === '{}');
  const initials = fields.map(({ name, initial, repeated }) => `${JSON.stringify(name)}: ${repeated ? '[]' : initial}`);
  const oneofs = oneofsOf(fields);
  const oneofNames = [...oneofs.keys()];
  const cases = fields.map((field, i) =>
    casesOf(field, i, field.oneof === undefined ? -1 : oneofNames.indexOf(field.oneof)),
  );
  const code = `
    const [${fields.map((_, i) => `read${i}`).join()}] = reads;
    return (bytes, levels, into, endTag) => {
      bytes.enter(levels, ${width});
      ${hasLists ? 'bytes.enter(levels - 1, 0);' : ''}
      const message = into ?? { ${initials.join()} };
      ${Array.from(oneofs, (_, i) => `let set${i} = into ? undefined : null;`).join('\n')}
      while (bytes.at < bytes.end) {
        const tag = bytes.uint32();
        switch (tag) {
          ${cases.join('\n')}
          default:
            if (tag === endTag && tag !== 0) return message;
            skipField(bytes, tag, levels);
        }
      }
      if (endTag !== 0) bytes.fail();
      return message;
    };`;
  const reads = fields.map(({ read }) => read);
  return generatedFunction<ReadMessage>({ reads, skipField, clear, oneofs: [...oneofs.values()] }, code);
}

/** The names of the fields of each oneof, by the oneof's name. */
function oneofsOf(fields: readonly MessageField[]): ReadonlyMap<string, readonly string[]> {
  const oneofs = new Map<string, string[]>();
  for (const { name, oneof } of fields) {
    if (oneof === undefined) continue;
    const names = oneofs.get(oneof);
    if (names) names.push(name);
    else oneofs.set(oneof, [name]);
  }
  return oneofs;
}

/** Unsets the field of a oneof that is set. @param set its name; null: none is set; undefined: any of `names` may be */
function clear(message: Record<string, unknown>, set: string | null | undefined, names: readonly string[]): void {
  if (set === undefined) for (const name of names) message[name] = undefined;
  else if (set !== null) message[set] = undefined;
}

/** Of the value of a field that is not in the bytes: that of an enum is a name. */
function initialWidth({ initial, repeated }: MessageField): number {
  return repeated || initial === 'undefined' ? 1 : initial.length;
}

/** @param oneof its index; -1: the field is alone */
function casesOf(field: MessageField, i: number, oneof: number): string {
  const { id, wireType, repeated, initial } = field;
  const key = `message[${JSON.stringify(field.name)}]`;
  const tag = tagOf(id, wireType);
  if (repeated) return casesOfList(field, i, key);
  if (initial === '{}') return `case ${tag}: read${i}(bytes, levels - 2, ${key}); break;`;
  const value = `read${i}(bytes, levels - 1, ${key})`;
  if (oneof < 0) return `case ${tag}: ${key} = ${value}; break;`;
  return `case ${tag}: {
    const value = ${value};
    clear(message, set${oneof}, oneofs[${oneof}]);
    set${oneof} = ${JSON.stringify(field.name)};
    ${key} = value;
    break;
  }`;
}

/** A list of numbers is read in either form, packed or not, as parsers of Protobuf do. */
function casesOfList({ id, wireType }: MessageField, i: number, key: string): string {
  const push = `bytes.spend(${MIN_ITEM_WIDTH}); ${key}.push(read${i}(bytes, levels - 2));`;
  const single = `case ${tagOf(id, wireType)}: ${push} break;`;
  if (wireType !== LENGTH_DELIMITED && wireType !== GROUP) {
    return `${single}
      case ${tagOf(id, LENGTH_DELIMITED)}: {
        const outer = bytes.startMessage();
        while (bytes.at < bytes.end) { ${push} }
        bytes.end = outer;
        break;
      }`;
  }
  return single;
}

function tagOf(id: number, wireType: number): number {
  return ((id << 3) | wireType) >>> 0;
}
