import protobuf from 'protobufjs';
import type { Namespace, ReflectionObject, Root, Type } from 'protobufjs';
import type { SchemaReference } from '../decoder.ts';
import { knownFile } from './known-files.ts';
import { ProtoBudget } from './proto-budget.ts';
import { addProtoFile } from './proto-file.ts';

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

/** @throws Error if a text is no file of Protobuf, they are too large, or a type is in none of them; the message says why */
export function parseProtoSchema(text: string, references: readonly SchemaReference[]): ProtoSchema {
  const root = new protobuf.Root();
  const known = new Set<string>();
  const budget = new ProtoBudget();
  for (const { name, text: source } of references) {
    if (knownFile(name) === undefined) addFile(root, source, known, budget);
  }
  addFile(root, text, known, budget);
  root.resolveAll();
  // Alone in a root of its own: files of one package share a namespace, and only the main file's messages are counted.
  const alone = new protobuf.Root();
  const { package: name } = addProtoFile(alone, text, new ProtoBudget());
  const file = name === undefined ? alone : (alone.lookup(name) as Namespace);
  return { root, messages: messagesIn(file, root) };
}

/** @param known the known files that are in the root already */
function addFile(root: Root, text: string, known: Set<string>, budget: ProtoBudget): void {
  for (const path of addProtoFile(root, text, budget).imports) {
    const file = knownFile(path);
    if (file === undefined || known.has(path)) continue;
    known.add(path);
    if (typeof file === 'string') addFile(root, file, known, budget);
    else root.addJSON(file);
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
