import { basename, parse, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { MAX_RECORD_DEPTH } from '../../config/limits.ts';
import { readSettings } from '../../config/config.ts';
import { SetupError, UsageError } from '../../base/errors.ts';
import type { RecordLimits } from '../../kafka/decoding/record.ts';
import type { Settings } from '../../config/settings.ts';
import { readArguments } from '../command.ts';
import { readCommandEnvironment } from '../environment.ts';
import { choiceText } from './choice-text.ts';
import { envelopeText } from './envelope-text.ts';
import { exampleSubscription } from './example-subscription.ts';
import { refuseExisting, writeGraphFiles } from './graph-files.ts';
import { inferGraph } from './inferred-graph.ts';
import { reportJson, reportText } from './init-report.ts';
import { nextCommands } from './next-commands.ts';
import { rawFieldsText } from './raw-fields-text.ts';
import { readmeText } from './readme-text.ts';
import { checkTopicName } from '../topic-name.ts';
import { readSampleFile } from './sample-file.ts';
import { samplesText } from './samples-text.ts';
import { schemaText } from './schema-text.ts';
import { seenTopic } from './seen-topic.ts';
import { readTopic } from './topic-source.ts';
import type { TopicRecords } from './topic-source.ts';
import { visible } from '../../base/visible.ts';

export const usage = `Writes a graph for a topic: its types and its binding follow from records and their schemas.

Usage: crier init <folder> --topic <name> [--sample <file>]
       crier init <folder> --sample <file>

  --topic <name>   reads the newest records of this topic, and writes nothing to it; with --sample only its name counts
  --sample <file>  reads sample records: a JSON object, an array of them, or one on each line; - is standard input
  --json           prints { topic, files, fields, choices, warnings, commands } as JSON
  --help           prints this text

Without both it asks, on a terminal. Settings are crier's environment variables, and the file .env in the working
directory: KAFKA_BROKERS, KAFKA_TLS, KAFKA_SASL_…, and SCHEMA_REGISTRY_URL for records of Avro and Protobuf.
It writes schema.graphql, samples.ts and README.md, and replaces no file.
`;

const FILES = ['schema.graphql', 'samples.ts', 'README.md'];
/** Names of Kafka's topics. */
const NEEDS =
  'expected --topic <name>, or --sample <file> with records of JSON (- is standard input); see crier init --help';

const ROW_FIX = 'write a record of a row that is there, or add --sample with a file of records';

/** At least one of the two. */
interface Source {
  readonly topic?: string | undefined;
  readonly sample?: string | undefined;
}

export async function run(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { topic: text, sample: text, json: { type: 'boolean' } } as const;
  const { values, positionals } = readArguments('init', args, { options, maxPositionals: 1 });
  const [folder] = positionals;
  if (folder === undefined) throw new UsageError('expected the folder of the graph; see crier init --help');
  refuseExisting(folder, FILES);
  const source = values.topic === undefined && values.sample === undefined ? await ask() : values;
  const topic = topicOf(source, folder);
  const given = readCommandEnvironment();
  const settings = readSettings(given.environment);
  const limits = { maxBytes: settings.MAX_RECORD_BYTES, maxDepth: MAX_RECORD_DEPTH };
  const {
    records: read,
    types,
    hasSchema,
    undecodable,
    hasTombstones,
  } = await readFrom(source, topic, settings, limits);
  const leftOut = undecodable === undefined ? [] : [leftOutText(undecodable, read.length)];
  for (const line of leftOut) process.stderr.write(`${line}\n`);

  const seen = seenTopic(read, limits, types);
  const { records } = seen;
  if (records.length === 0) throw new SetupError(`none of the records ${placeOf(source, topic)} has a row; ${ROW_FIX}`);
  const graph = inferGraph(topic, seen, hasTombstones);
  const count = read.length === 1 ? 'one record' : `${read.length} records`;
  const from = `${count} ${placeOf(source, topic)}`;
  const envelope = envelopeText(seen);
  const commands = nextCommands(folder, exampleSubscription(graph, records), hasSchema, given);
  await writeGraphFiles(folder, {
    'schema.graphql': schemaText(graph, from, envelope === undefined ? [] : [envelope]),
    'samples.ts': samplesText(topic, seen.samples, from),
    'README.md': readmeText(basename(resolve(folder)), from, commands),
  });
  const choices = [...(envelope === undefined ? [] : [envelope]), choiceText(graph)];
  const report = { folder, files: FILES, graph, source: from, choices, commands };
  const raw = rawFieldsText(graph);
  process.stdout.write(
    values.json ? reportJson({ ...report, warnings: [...leftOut, ...raw] }) : reportText({ ...report, warnings: raw }),
  );
  return 0;
}

function leftOutText({ count, why, fix }: NonNullable<TopicRecords['undecodable']>, read: number): string {
  return `left out: ${count} of ${count + read} records cannot be decoded (${why}); ${fix}`;
}

/** @throws UsageError where nobody can answer */
async function ask(): Promise<Source> {
  // They are undefined where the streams are files or pipes.
  const isTerminal = Boolean(process.stdin.isTTY) && Boolean(process.stderr.isTTY);
  if (!isTerminal) throw new UsageError(NEEDS);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = 'A Kafka topic, or a file with sample records (.json, .jsonl): ';
    // After Ctrl-C and Ctrl-D the question stays without an answer.
    const closed = new Promise<never>((_, reject) => terminal.once('close', () => reject(new UsageError(NEEDS))));
    terminal.once('SIGINT', () => terminal.close());
    const answer = (await Promise.race([terminal.question(question), closed])).trim();
    if (answer === '') throw new UsageError(NEEDS);
    return existsSync(answer) ? { sample: answer } : { topic: answer };
  } finally {
    terminal.close();
  }
}

function placeOf({ sample }: Source, topic: string): string {
  if (sample === undefined) return `of the topic "${topic}"`;
  return sample === '-' ? 'of standard input' : `in ${visible(basename(sample))}`;
}

/** Without a name: that of the file, or of the folder for standard input. */
function topicOf({ topic, sample = '' }: Source, folder: string): string {
  if (topic !== undefined) checkTopicName('--topic', topic);
  const name = sample === '-' ? basename(resolve(folder)) : parse(sample).name;
  return topic ?? (name.replace(/[^\w.-]+/g, '-').slice(0, 249) || 'records');
}

async function readFrom(
  { sample }: Source,
  topic: string,
  settings: Settings,
  limits: RecordLimits,
): Promise<TopicRecords> {
  if (sample === undefined) return readTopic(topic, settings, limits);
  return {
    records: await readSampleFile(sample, limits),
    types: [],
    hasSchema: false,
    undecodable: undefined,
    hasTombstones: false,
  };
}
