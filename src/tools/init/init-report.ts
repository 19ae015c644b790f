import { join } from 'node:path';
import { paint } from '../../base/paint.ts';
import { escapeHidden } from '../../base/visible.ts';
import type { InferredGraph } from './inferred-graph.ts';
import type { NextCommands } from './next-commands.ts';

/** What `crier init` has done. */
export interface InitReport {
  readonly folder: string;
  /** Their names. */
  readonly files: readonly string[];
  readonly graph: InferredGraph;
  /** The records, and where they are from. */
  readonly source: string;
  /** Sentences on what was chosen, and why. */
  readonly choices: readonly string[];
  readonly warnings: readonly string[];
  readonly commands: NextCommands;
}

/** As a line of JSON, for programs. */
export function reportJson({ folder, files, graph, choices, warnings, commands }: InitReport): string {
  const paths = files.map((name) => join(folder, name));
  const line = { topic: graph.topic, files: paths, fields: fieldsOf(graph), choices, warnings, commands };
  return `${escapeHidden(JSON.stringify(line))}\n`;
}

/** Subscription fields, with the types of their arguments. */
function fieldsOf({ field, all, type, keys }: InferredGraph) {
  const args = Object.fromEntries(keys.map(({ argument, type: keyType }) => [argument, keyType]));
  return [
    { field: `Subscription.${field}`, type, arguments: args },
    ...(all === undefined ? [] : [{ field: `Subscription.${all}`, type, arguments: {} }]),
  ];
}

/** For people. */
export function reportText({ folder, files, source, choices, warnings, commands }: InitReport): string {
  const command = (text: string) => `  ${paint(process.stdout, 'cyan', text)}\n`;
  const { sample, tail, live, types } = commands;
  return `${paint(process.stdout, 'green', 'written')}: ${files.join(', ')} in ${folder}, from ${source}

${[...choices, ...warnings.map((text) => `warning: ${text}`)].join('\n')}

Play the sample records, without Kafka, and open http://localhost:4000/:

${command(sample)}
Print events in another terminal:

${command(tail)}
Serve the topic, with the addresses of your Kafka and Redis:

${command(live)}
Write types for resolvers.ts, once you have one:

${command(types)}`;
}
