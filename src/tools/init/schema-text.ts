import { choiceText } from './choice-text.ts';
import type { InferredGraph } from './inferred-graph.ts';
import type { InferredField, InferredObject } from './inferred-types.ts';
import { visible } from '../../base/visible.ts';

const MAX_LEFT_OUT = 10;

/** The schema.graphql of a graph. */
export function schemaText(graph: InferredGraph, source: string): string {
  const types = [graph.type, ...graph.objects.flatMap(({ fields }) => fields.map(({ type }) => type))];
  const uses = (scalar: string) => types.some((type) => type.replace(/[[\]]/g, '') === scalar);
  const blocks = [
    `# Written by "crier init" from ${source}.\n# It is a start: rename, remove and add what you need. Fields may be null, because other records may lack them.`,
    subscription(graph),
    ...graph.objects.map((object) => objectText(object, graph)),
    ...(uses('BigInt') ? ['"An integer, as text."\nscalar BigInt'] : []),
    ...(uses('JSON') ? ['"Any JSON. Objects in it keep their keys."\nscalar JSON'] : []),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function subscription(graph: InferredGraph): string {
  const { topic, field, type, key, payload } = graph;
  const path = key && [...payload, ...key.path].join('.');
  const parts = [
    `topic: ${JSON.stringify(topic)}`,
    ...(key ? [`match: [{ arg: "${key.argument}", path: "${path}" }]`] : []),
    ...(payload.length > 0 ? [`payload: "${payload.join('.')}"`] : []),
  ];
  const args = key ? `(${key.argument}: ${key.type})` : '';
  const name = key?.path.join('.');
  const what = key ? `The records of one ${name}; without the argument, all records.` : 'All records of the topic.';
  const choice = graph.isKeyed ? `  # ${choiceText(graph)}\n` : '';
  return `type Subscription {\n${choice}  "${what}"\n  ${field}${args}: ${type} @kafka(${parts.join(', ')})\n}`;
}

function objectText(object: InferredObject, { key }: InferredGraph): string {
  const lines = object.fields.map((field) =>
    fieldText(field, object === key?.object && field.name === key.path.at(-1)),
  );
  return `type ${object.name} {\n${lines.join('')}${leftOut(object.leftOut)}}`;
}

function fieldText({ name, type, note }: InferredField, isKey: boolean): string {
  const comment = note === undefined ? '' : `  # ${note}\n`;
  return `${comment}  ${name}: ${type}${isKey ? '!' : ''}\n`;
}

function leftOut(keys: readonly string[]): string {
  if (keys.length === 0) return '';
  const names = keys.slice(0, MAX_LEFT_OUT).map(visible);
  const more = keys.length > MAX_LEFT_OUT ? ` and ${keys.length - MAX_LEFT_OUT} more` : '';
  return `  # Left out, because GraphQL has no such names: ${names.join(', ')}${more}\n`;
}
