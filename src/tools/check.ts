import { processEnvironment } from '../config/environment.ts';
import { checkConfig, linesOf } from '../ops/check/check-config.ts';
import { describeFields } from '../ops/check/described-fields.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { BUILT_IN_GRAPH } from '../server.ts';
import { readArguments } from './command.ts';

export const usage = `Tries what a pod needs at its start, and explains what each subscription field is bound to.

Usage: crier check [<graph folder>]

Looks at the settings, the graph, its documents, the keys of tokens, Kafka, the schema registry and Redis, and compares the newest records of
topics with the types. Starts no server, joins no group, commits nothing. Settings are crier's environment variables.
Exits with 1 after a failure.
`;

export async function run(args: readonly string[]): Promise<number> {
  const [folder] = readArguments('check', args, { options: {}, maxPositionals: 1 }).positionals;
  let graph: Graph | undefined;
  const findings = await checkConfig(processEnvironment(folder), BUILT_IN_GRAPH, (loaded) => (graph = loaded));
  if (graph) process.stdout.write(`${describeFields(graph)}\n`);
  process.stdout.write(linesOf(findings));
  return findings.some(({ status }) => status === 'failed') ? 1 : 0;
}
