import type { CompileSchema } from '../decoder.ts';
import { RecordBytes } from '../record-bytes.ts';
import { refNameIn } from '../wire-format.ts';
import { mergedFields } from '../schema-fields.ts';
import { SchemaPlace } from '../schema-place.ts';
import { messagesOfGlue } from './glue-messages.ts';
import { MessageReaders } from './message-readers.ts';
import { protoFields } from './proto-fields.ts';
import { parseProtoSchema } from './proto-schema.ts';
import type { ProtoMessage } from './proto-schema.ts';

/**
 * protobufjs reads the schema, crier the bytes: protobufjs's decoder makes a message with a Long for each integer of 64 bits, which a
 * second pass would have to rename and print.
 */
export const compileProtobuf: CompileSchema = (text, references, options) => {
  const { root, messages } = parseProtoSchema(text, references);
  if (messages.length === 0) throw new Error('no message in the file');
  const place = SchemaPlace.root(options);
  const readers = new MessageReaders(root);
  const glueMessages = options.isOfGlue ? messagesOfGlue(messages) : undefined;
  const input = new RecordBytes(options, 'not_protobuf');
  const decode = (bytes: Buffer) => {
    input.load(bytes);
    try {
      const type = glueMessages ? (glueMessages[input.uint32()] ?? input.fail()) : messageOf(input, messages).type;
      return readers.of(type, place)(input, options.limits.maxDepth, undefined, 0);
    } finally {
      input.unload();
    }
  };
  const ofRecords = recordMessages(messages);
  return {
    fields: mergedFields(ofRecords.map(({ type }) => protoFields(type, place)))!,
    mayHaveOthers: ofRecords.length < messages.length,
    decode,
    decodeKey: decode,
  };
};

/** The messages of the file that no other one of it contains. A record may be any message, but is hardly one of the others. */
export function recordMessages(messages: readonly ProtoMessage[]): readonly ProtoMessage[] {
  const contained = new Set(
    messages.flatMap(({ type }) => type.fieldsArray.map((field) => field.resolvedType)).filter((of) => of !== null),
  );
  const others = messages.filter(({ type }) => !contained.has(type));
  return others.length === 0 ? messages : others;
}

/**
 * The message that the indexes before a record's bytes name: its index in the file, then in the message before. Apicurio writes the name of
 * a message of the file instead.
 */
function messageOf(bytes: RecordBytes, messages: readonly ProtoMessage[]): ProtoMessage {
  const start = bytes.at;
  const count = bytes.zigzag32();
  // Short for the first message.
  if (count === 0) return messages[0]!;
  const name = refNameIn(bytes.bytes, start);
  const named = name === undefined ? undefined : messages.find(({ type }) => type.name === name);
  if (named) {
    bytes.skip(name!.length + 2);
    return named;
  }
  let message: ProtoMessage | undefined;
  for (let i = 0; i < count; i++) {
    message = (message ? message.nested : messages)[bytes.zigzag32()];
    if (!message) bytes.fail();
  }
  if (!message) bytes.fail();
  return message;
}
