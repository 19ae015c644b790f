import protobuf from 'protobufjs';
import type { Namespace, ReflectionObject, Root, Type } from 'protobufjs';
import type { SchemaReference } from '../decoder.ts';

export interface ProtoSchema {
  /** Every file, with its types resolved. */
  readonly root: Root;
  /** Of the main file, as the indexes of the wire format count them. */
  readonly messages: readonly ProtoMessage[];
}

export interface ProtoMessage {
  readonly type: Type;
  readonly nested: readonly ProtoMessage[];
}

/** Fields and values of enums in a file. protobufjs takes 1 s for as many in one message, and four times as long for twice as many. */
const MAX_NUMBERS = 4000;

/** @throws Error if a text is no .proto file, or a type is in none of the files; the message says why */
export function parseProtoSchema(text: string, references: readonly SchemaReference[]): ProtoSchema {
  const root = new protobuf.Root();
  for (const source of [...references.map((reference) => reference.text), text]) addFile(root, source);
  root.resolveAll();
  // Alone in a root of its own: files of one package share a namespace, and only the main file's messages are counted.
  const alone = new protobuf.Root();
  const { package: name } = protobuf.parse(text, alone, { keepCase: true });
  const file = name === undefined ? alone : (alone.lookup(name) as Namespace);
  return { root, messages: messagesIn(file, root) };
}

function addFile(root: Root, text: string): void {
  if ((text.match(/=\s*-?\d/g)?.length ?? 0) > MAX_NUMBERS)
    throw new Error(`more than ${MAX_NUMBERS} fields and values in a file`);
  const { imports = [], weakImports = [] } = protobuf.parse(text, root, { keepCase: true });
  // The well-known types come with Protobuf: a registry does not list them as references.
  for (const path of [...imports, ...weakImports]) {
    const wellKnown = protobuf.common.get(path);
    if (wellKnown?.nested) root.addJSON(wellKnown.nested);
  }
}

function messagesIn(scope: Namespace, root: Root): readonly ProtoMessage[] {
  return scope.nestedArray.filter(isType).map((type) => ({
    type: root.lookupType(type.fullName),
    nested: messagesIn(type, root),
  }));
}

function isType(object: ReflectionObject): object is Type {
  return object instanceof protobuf.Type;
}
