import { paint } from '../base/paint.ts';
import type { Colour } from '../base/paint.ts';
import { escapeHidden } from '../base/visible.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { checkConfig } from '../ops/check/check-config.ts';
import { describeFields, fieldFacts } from '../ops/check/described-fields.ts';
import type { Finding } from '../ops/check/finding.ts';
import { positiveInteger, readArguments } from './command.ts';
import { commandEnvironment } from './environment.ts';

export const usage = `Tries what a pod needs at its start, and explains what each subscription field is bound to.

Usage: crier check [<graph folder>] [options]

  --records <count>  compares so many of the newest records of each topic with the graph, at most 64 MiB of them;
                     default: 50
  --json             prints { isOk, findings, fields } as JSON
  --help             prints this text

Looks at the settings, the graph, TRUSTED_DOCUMENTS, TUNABLES_FILE, the keys of tokens, Kafka, the schema registry and
Redis, and compares the newest records of topics with the graph. Starts no server, joins no group, commits nothing.
Settings are crier's environment variables, and the file .env in the working directory.
Exits with 1 after a failure.
`;

const COLOURS: Readonly<Record<Finding['status'], Colour>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

export async function run(args: readonly string[]): Promise<number> {
  const options = { records: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values, positionals } = readArguments('check', args, { options, maxPositionals: 1 });
  let graph: Graph | undefined;
  const records = values.records === undefined ? undefined : positiveInteger('--records', values.records);
  const onGraph = (loaded: Graph) => void (graph = loaded);
  const findings = await checkConfig(commandEnvironment(positionals[0]), { onGraph, records });
  const isOk = !findings.some(({ status }) => status === 'failed');
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ isOk, findings, fields: graph ? fieldFacts(graph) : [] })}\n`);
  } else {
    if (graph) process.stdout.write(`${describeFields(graph)}\n`);
    process.stdout.write(linesOf(findings));
  }
  return isOk ? 0 : 1;
}

/** `ok`, `warning`, `failed` or `skipped`, and what was found; further lines of a finding are indented. */
export function linesOf(findings: readonly Finding[]): string {
  return findings
    .map(({ status, text }) => {
      const lines = escapeHidden(text).replaceAll(/\n(?=.)/g, `\n${' '.repeat(9)}`);
      return `${paint(process.stdout, COLOURS[status], status.padEnd(8))} ${lines}\n`;
    })
    .join('');
}
