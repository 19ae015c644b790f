import protobuf from 'protobufjs';
import type { Root } from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';
import type { IDescriptorProto, IFileDescriptorProto } from 'protobufjs/ext/descriptor.js';
import { restoreMaps } from './map-entries.ts';
import type { ProtoBudget } from './proto-budget.ts';

/** What a file says of itself. */
export interface ProtoFile {
  readonly package: string | undefined;
  readonly imports: readonly string[];
}

/** protobufjs has no type for the imports. */
type FileDescriptor = Omit<IFileDescriptorProto, 'dependency'> & { readonly dependency?: readonly string[] };

const BASE64 = /^[\w+/=\s]+$/;

/**
 * Adds the types of a file to a root. The file is text, or a descriptor in base64: the clients of librdkafka register those, and some
 * registries return them as they are.
 * @throws Error if it is neither, or exceeds the budget; the message says why
 */
export function addProtoFile(root: Root, source: string, budget: ProtoBudget): ProtoFile {
  return BASE64.test(source) ? addDescriptor(root, source, budget) : addText(root, source, budget);
}

function addText(root: Root, text: string, budget: ProtoBudget): ProtoFile {
  budget.charge(text.match(/=\s*-?\d/g)?.length ?? 0);
  const {
    package: name,
    imports = [],
    weakImports = [],
  } = protobuf.parse(text, root, {
    keepCase: true,
    // Comments with two slashes, too: `crier init` makes descriptions of them.
    alternateCommentMode: true,
  });
  restoreMaps(root);
  return { package: name ?? undefined, imports: [...imports, ...weakImports] };
}

function addDescriptor(root: Root, base64: string, budget: ProtoBudget): ProtoFile {
  const file = descriptorIn(base64);
  const { package: name = '', syntax, dependency, messageType = [], enumType = [] } = file;
  if (syntax === 'editions') throw new Error('a descriptor of an edition; register the text of the .proto file');
  budget.charge(numbersIn({ nestedType: messageType, enumType }));
  const scope = name === '' ? root : root.define(name);
  const context = { edition: syntax === 'proto3' ? syntax : 'proto2', keepCase: true };
  for (const type of messageType) scope.add(protobuf.Type.fromDescriptor(type, context));
  for (const type of enumType) scope.add(protobuf.Enum.fromDescriptor(type, context));
  return { package: name === '' ? undefined : name, imports: dependency ?? [] };
}

function descriptorIn(base64: string): FileDescriptor {
  try {
    return descriptor.FileDescriptorProto.decode(Buffer.from(base64, 'base64')) as FileDescriptor;
  } catch (error) {
    throw new Error('it is neither the text of a .proto file nor a descriptor in base64', { cause: error });
  }
}

function numbersIn({ field = [], nestedType = [], enumType = [] }: IDescriptorProto): number {
  const ofEnums = enumType.reduce((count, { value = [] }) => count + value.length, field.length);
  return nestedType.reduce((count, type) => count + numbersIn(type), ofEnums);
}
