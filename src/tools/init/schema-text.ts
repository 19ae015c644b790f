import { choiceText } from './choice-text.ts';
import type { InferredGraph } from './inferred-graph.ts';
import type { InferredEnum, InferredField, InferredObject } from './inferred-types.ts';
import { escapeHidden, visible } from '../../base/visible.ts';

const MAX_LEFT_OUT = 10;
const MAX_DOC_LENGTH = 1000;

const UNKNOWN_BEFORE =
  'To match other columns than those of the key: ALTER TABLE … REPLICA IDENTITY FULL, and before: WHOLE below. No update that was read shows rows before as whole.';

/** The schema.graphql of a graph. @param notes for comments at the top */
export function schemaText(graph: InferredGraph, source: string, notes: readonly string[] = []): string {
  const types = [graph.type, ...graph.objects.flatMap(({ fields }) => fields.map(({ type }) => type))];
  const uses = (scalar: string) => types.some((type) => type.replace(/[[\]!]/g, '') === scalar);
  const required = graph.hasSchema
    ? 'Fields with "!" are required by the schema of the records; take it away before producers may leave them out.'
    : 'Fields may be null, because other records may lack them.';
  const blocks = [
    [
      `# Written by "crier init" from ${source}.`,
      `# It is a start: rename, remove and add what you need. ${required}`,
      ...notes.map((note) => `# ${note}`),
    ].join('\n'),
    subscription(graph),
    ...graph.objects.map((object) => objectText(object, graph)),
    ...graph.enums.map(enumText),
    ...(uses('BigInt') ? ['"An integer, as text."\nscalar BigInt'] : []),
    ...(uses('JSON') ? ['"Any JSON. Objects in it keep their keys."\nscalar JSON'] : []),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function subscription(graph: InferredGraph): string {
  const { field, all, type, keys, envelope, rowsBefore } = graph;
  const isOfRows = envelope !== undefined && envelope !== 'OUTBOX';
  const hasTombstones = envelope === undefined && graph.hasTombstones;
  // A tombstone has only its key, and one value of it at most stands for a path.
  const matches = keys.map(({ argument, path }) =>
    hasTombstones && keys.length > 1
      ? `{ arg: "${argument}", key: "${path.join('.')}" }`
      : `{ arg: "${argument}", path: "${[...graph.payload, ...path].join('.')}" }`,
  );
  // An event of the outbox is of no row that is deleted.
  const tombstone = isOfRows || hasTombstones ? 'NULL' : envelope === undefined ? undefined : 'SKIP';
  const isRequired = all === undefined ? '' : '!';
  const args = keys.length > 0 ? `(${keys.map((key) => `${key.argument}: ${key.type}${isRequired}`).join(', ')})` : '';
  const names = keys.map(({ path }) => path.join('.')).join(' and ');
  const without = keys.length > 1 ? 'without the arguments' : 'without the argument';
  const others = all === undefined ? `; ${without}, all records` : '';
  const what = keys.length > 0 ? `The records of one ${names}${others}.` : 'All records of the topic.';
  const deletes = isOfRows ? ' Null: the row was deleted.' : hasTombstones ? ' Null: the key was deleted.' : '';
  const choice = graph.isKeyed ? `  # ${choiceText(graph)}\n` : '';
  const before = rowsBefore === 'UNKNOWN' ? `  # ${UNKNOWN_BEFORE}\n` : '';
  const one = `  "${what}${deletes}"\n  ${field}${args}: ${type} ${directive(graph, matches, tombstone)}\n`;
  return `type Subscription {\n${choice}${before}${one}${all === undefined ? '' : `\n${allText(graph, all)}`}}`;
}

/** The field of all rows, or of all events of an outbox. */
function allText(graph: InferredGraph, all: string): string {
  const { envelope, rowsBefore, type } = graph;
  if (envelope === 'OUTBOX')
    return `  "All records of the topic."\n  ${all}: ${type} ${directive(graph, [], 'SKIP')}\n`;
  // What a row was is known where rows before count.
  const tombstone = envelope === 'DEBEZIUM' && rowsBefore !== 'UNKNOWN' ? 'ROW' : 'NULL';
  const deletes =
    tombstone === 'ROW'
      ? 'A row that is deleted is delivered as it was, with the op DELETE.'
      : 'Null: a row was deleted.';
  return `  "All rows. ${deletes}"\n  ${all}: ${type} ${directive(graph, [], tombstone)}\n`;
}

function directive(
  { topic, envelope, rowsBefore, payload }: InferredGraph,
  matches: readonly string[],
  tombstone: string | undefined,
): string {
  const parts = [
    `topic: ${JSON.stringify(topic)}`,
    ...(envelope === undefined ? [] : [`envelope: ${envelope}`]),
    ...(rowsBefore === 'WHOLE' ? ['before: WHOLE'] : []),
    ...(matches.length > 0 ? [`match: [${matches.join(', ')}]`] : []),
    ...(payload.length > 0 ? [`payload: "${payload.join('.')}"`] : []),
    ...(tombstone === undefined ? [] : [`tombstone: ${tombstone}`]),
  ];
  return `@kafka(${parts.join(', ')})`;
}

function objectText(object: InferredObject, { keys, object: root, operation, headers }: InferredGraph): string {
  const isKey = ({ name }: InferredField) => keys.some((key) => key.object === object && key.path.at(-1) === name);
  const lines = object.fields.map((field) => fieldText(field, field.isRequired || isKey(field)));
  if (object === root && operation !== undefined)
    lines.push(
      `  "What happened to the row: CREATE, UPDATE, DELETE, or READ from the table."\n  ${operation}: String @change(field: OP)\n`,
    );
  for (const { name, header } of object === root ? headers : [])
    lines.push(
      `  ${name}: ${name === 'event_id' ? 'ID' : 'String'} @record(field: HEADER, name: ${JSON.stringify(header)})\n`,
    );
  return `${description(object.doc, '')}type ${object.name} {\n${lines.join('')}${leftOut(object.leftOut)}}`;
}

function fieldText({ name, type, note, doc }: InferredField, isRequired: boolean): string {
  const comment = note === undefined ? '' : `  # ${note}\n`;
  return `${comment}${description(doc, '  ')}  ${name}: ${type}${isRequired ? '!' : ''}\n`;
}

function enumText({ name, doc, symbols }: InferredEnum): string {
  return `${description(doc, '')}enum ${name} {\n${symbols.map((symbol) => `  ${symbol}\n`).join('')}}`;
}

/** What a schema says of a type or a field, as a block string. */
function description(doc: string | undefined, indent: string): string {
  if (doc === undefined) return '';
  const short = doc.length > MAX_DOC_LENGTH ? `${doc.slice(0, MAX_DOC_LENGTH)}…` : doc;
  const lines = escapeHidden(short.replaceAll('"""', String.raw`\"""`).replaceAll(/\r\n?/g, '\n'))
    .split('\n')
    .map((line) => line.trim());
  const isBlock = lines.length > 1 || /["\\]$/.test(lines[0]!);
  return isBlock
    ? `${indent}"""\n${lines.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('')}${indent}"""\n`
    : `${indent}"""${lines[0]}"""\n`;
}

function leftOut(keys: readonly string[]): string {
  if (keys.length === 0) return '';
  const names = keys.slice(0, MAX_LEFT_OUT).map(visible);
  const more = keys.length > MAX_LEFT_OUT ? ` and ${keys.length - MAX_LEFT_OUT} more` : '';
  return `  # Left out, because GraphQL has no such names: ${names.join(', ')}${more}\n`;
}
