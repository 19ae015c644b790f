import { readSettings } from '../config/config.ts';
import { SetupError, UsageError } from '../base/errors.ts';
import { parseExactly } from '../base/json/exact-numbers.ts';
import { isJsonObject, jsonKind } from '../base/json/json-object.ts';
import { compactTextAt } from '../base/json/tokens.ts';
import { valueAt } from '../base/json/value-at.ts';
import type { Cluster } from '../kafka/client/cluster.ts';
import { hasType } from '../kafka/client/kafka-errors.ts';
import { Producer } from '../kafka/client/producer.ts';
import type { OutgoingRecord } from '../kafka/client/producer.ts';
import { commandLog } from './command-log.ts';
import { readArguments, readHeaders } from './command.ts';
import { commandEnvironment } from './environment.ts';
import { keyHint } from './key-hint.ts';
import { standardInput } from './standard-input.ts';
import { checkTopicName } from './topic-name.ts';
import { kafkaProblem, missingTopic, withKafka } from './with-kafka.ts';

export const usage = `Writes each line of standard input to a Kafka topic, as the value of a record.

Usage: crier publish <topic> [options] < records.jsonl

  --key <path>              takes the record's key from the value, by its own names, such as data.orderId;
                            of an object its JSON text; default: none
  --key-separator <text>    each line is a key, this text and the value, as 7|{"n":1} with "|"; a line that ends
                            after it is a tombstone, a record without a value: 7|. "\\t" is a tab. A key may be
                            a JSON object
  --header <name: value>    a header of every record; may be repeated
  --text                    lines are any text; default: each must be a JSON object
  --create                  creates the topic if it does not exist, with the brokers' defaults
  --json                    prints { topic, written } as JSON; if not all lines are written with the error, and
                            with unknown, the number of the next ones of which some may be written

Empty lines are skipped. Settings are crier's environment variables, and the file .env in the working directory:
KAFKA_BROKERS, KAFKA_TLS, KAFKA_SASL_….
Exits with 1 at a line that is refused; the lines before it are written, and their number is printed.
`;

const WITHOUT_KAFKA = '; without Kafka the records of a graph come from its samples.ts';
const BATCH = 500;
/** Characters of a key, or of a value that is none, in a message. */
const MAX_SHOWN = 100;
const INVALID_RECORD: ReadonlySet<string> = new Set(['INVALID_RECORD']);
const PROGRESS_INTERVAL_MS = 2000;

interface Target {
  readonly topic: string;
  readonly keyPath: readonly string[] | undefined;
  /** undefined: a line is a value. */
  readonly separator: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isText: boolean;
  readonly isCreating: boolean;
  readonly isJson: boolean;
}

/** What became of the lines. */
interface Outcome {
  readonly written: number;
  /** Why the lines after them were not written. */
  readonly refusal?: SetupError;
  /** Lines that Kafka has not acknowledged: some of them may be written. */
  readonly unknown?: number;
}

export async function run(args: readonly string[]): Promise<number> {
  const target = targetOf(args);
  const { topic, isJson } = target;
  const { written, refusal, unknown } = await publish(target).catch((error: unknown): Outcome => {
    if (!isJson || !(error instanceof SetupError)) throw error;
    return { written: 0, refusal: error };
  });
  if (isJson) process.stdout.write(`${JSON.stringify({ topic, written, unknown, error: refusal?.message })}\n`);
  else if (!refusal) process.stderr.write(`written: ${written}\n`);
  if (!refusal) return 0;
  const perhaps = unknown === undefined ? '' : `, and perhaps some of the next ${unknown}`;
  throw isJson ? refusal : new SetupError(`${refusal.message}\nwritten: ${written}${perhaps}`, { cause: refusal });
}

/** @throws SetupError if not even the first line can be written */
async function publish(target: Target): Promise<Outcome> {
  const settings = readSettings(commandEnvironment());
  const log = commandLog(settings);
  return withKafka({ settings, log, hint: WITHOUT_KAFKA }, async ({ client, cluster }) => {
    if ((await cluster.existingTopics([target.topic])).length === 0) await createTopic(cluster, target);
    const producer = new Producer(client, { isIdempotent: true });
    try {
      await producer.connect();
      return await writeLines(producer, target, (error) => kafkaProblem(error, settings));
    } finally {
      await producer.disconnect().catch(() => undefined);
    }
  });
}

/** @throws SetupError without --create */
async function createTopic(cluster: Cluster, { topic, isCreating }: Target): Promise<void> {
  if (!isCreating) throw new SetupError(`${await missingTopic(cluster, topic)}; --create creates it`);
  if (await cluster.createTopic(topic)) process.stderr.write(`created: ${topic}\n`);
}

function targetOf(args: readonly string[]): Target {
  const options = {
    key: { type: 'string' },
    'key-separator': { type: 'string' },
    header: { type: 'string', multiple: true },
    text: { type: 'boolean' },
    create: { type: 'boolean' },
    json: { type: 'boolean' },
  } as const;
  const { values, positionals } = readArguments('publish', args, { options, maxPositionals: 2 });
  const [topic, file] = positionals;
  if (topic === undefined) throw new UsageError('expected the name of a topic; see crier publish --help');
  checkTopicName('<topic>', topic);
  if (file !== undefined)
    throw new UsageError(`records come from standard input: crier publish ${topic} < ${shorten(file)}`);
  if (values.text && values.key !== undefined) throw new UsageError('--key: a line of --text has no fields');
  const separator = values['key-separator']?.replaceAll('\\t', '\t');
  if (separator === '') throw new UsageError('--key-separator: expected a text, such as "|" or "\\t"');
  if (separator !== undefined && values.key !== undefined)
    throw new UsageError('--key-separator: the lines have their keys; leave out --key');
  return {
    topic,
    keyPath: values.key?.split('.'),
    separator,
    headers: readHeaders(values.header ?? []),
    isText: values.text ?? false,
    isCreating: values.create ?? false,
    isJson: values.json ?? false,
  };
}

/**
 * Writes lines until one is refused, or Kafka fails. What has arrived is written at once, so that a slow pipe does not wait.
 * @param problemOf what a person has to know of a failure of Kafka
 */
async function writeLines(
  producer: Producer,
  target: Target,
  problemOf: (error: unknown) => Promise<SetupError | undefined>,
): Promise<Outcome> {
  let written = 0;
  let reportedAt = performance.now();
  /** Returns what has failed. */
  const write = async (messages: OutgoingRecord[]): Promise<Outcome | undefined> => {
    for (let i = 0; i < messages.length; i += BATCH) {
      const batch = messages.slice(i, i + BATCH);
      try {
        await producer.produce(target.topic, batch);
      } catch (error) {
        const refusal = keylessProblem(error, target.topic, batch) ?? (await problemOf(error));
        if (!refusal) throw error;
        return { written, refusal, unknown: batch.length };
      }
      written += batch.length;
      if (performance.now() - reportedAt < PROGRESS_INTERVAL_MS) continue;
      reportedAt = performance.now();
      process.stderr.write(`${written} so far\n`);
    }
    return undefined;
  };
  for await (const lines of arrivingLines(
    standardInput(target.isText ? 'lines' : 'records, a JSON object in each line,'),
  )) {
    const messages: OutgoingRecord[] = [];
    try {
      for (const { text, number } of lines) messages.push(messageOf(text, number, target));
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      return (await write(messages)) ?? { written, refusal: error };
    }
    const failure = await write(messages);
    if (failure) return failure;
  }
  return { written };
}

/** The error of records without a key that the brokers refuse, as they do those of a compacted topic; undefined for every other error. */
function keylessProblem(error: unknown, topic: string, batch: readonly OutgoingRecord[]): SetupError | undefined {
  if (!hasType(error, INVALID_RECORD) || !batch.some(({ key }) => key === null)) return undefined;
  return new SetupError(
    `the brokers refuse records of the topic "${topic}" without a key, as of every compacted topic; --key <path> takes it from the value, --key-separator from before it`,
    { cause: error },
  );
}

interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** Lines that are not empty, as many at once as have arrived. */
async function* arrivingLines(input: NodeJS.ReadStream): AsyncGenerator<Line[]> {
  let rest = '';
  let number = 0;
  const lineOf = (text: string): Line => ({ text: text.replace(/\r$/, ''), number: ++number });
  const isNotEmpty = ({ text }: Line) => text.trim() !== '';
  for await (const chunk of input.setEncoding('utf8') as AsyncIterable<string>) {
    const texts = (rest + chunk).split('\n');
    rest = texts.pop()!;
    yield texts.map(lineOf).filter(isNotEmpty);
  }
  yield [lineOf(rest)].filter(isNotEmpty);
}

function messageOf(line: string, number: number, target: Target): OutgoingRecord {
  const { keyPath, separator, headers } = target;
  if (separator !== undefined) {
    const { key, value } = keyedLine(line, separator, number);
    if (value !== '') checkValue(value, number, target);
    return { key, value: value === '' ? null : value, headers: { ...headers } };
  }
  const value = checkValue(line, number, target);
  return { value: line, key: keyPath ? keyOf(line, value, keyPath, number) : null, headers: { ...headers } };
}

/** @throws SetupError for a value that is written with --text only. @returns what JSON it is */
function checkValue(text: string, number: number, { isText, separator }: Target): unknown {
  if (isText) return undefined;
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    const other = separator === undefined ? '' : ` after the first ${JSON.stringify(separator)}`;
    const fix = /^\s*[[{]\s*'/.test(text)
      ? 'JSON has double quotes'
      : /^\s*[[{]/.test(text)
        ? perLine(text)
        : '--text writes any text';
    throw new SetupError(`line ${number} is not JSON${other}: ${(error as Error).message}; ${fix}`, { cause: error });
  }
  if (isJsonObject(value)) return value;
  if (value !== null) {
    const fix = Array.isArray(value) ? `${perLine(text)}; ` : '';
    throw new SetupError(
      `line ${number}: a record is a JSON object, got ${jsonKind(value)}; ${fix}--text writes any text`,
    );
  }
  const tombstone = separator === undefined ? 'give its key with --key-separator' : 'end the line after the separator';
  throw new SetupError(
    `line ${number}: null is a JSON value and no tombstone: for a tombstone ${tombstone}; --text writes the text null`,
  );
}

/** What fixes records over several lines, or in a list. */
function perLine(text: string): string {
  return `each record must be one line, as ${text.trimStart().startsWith('[') ? "jq -c '.[]'" : 'jq -c .'} prints them`;
}

/** @throws SetupError for a line that has no key, or whose key is a part of one */
function keyedLine(line: string, separator: string, number: number): { readonly key: string; readonly value: string } {
  const shown = JSON.stringify(separator);
  const at = line.indexOf(separator);
  if (at < 0)
    throw new SetupError(`line ${number}: expected a key, ${shown} and a value; a tombstone ends after ${shown}`);
  const key = line.slice(0, at);
  if (key.trim() === '') throw new SetupError(`line ${number}: expected a key before ${shown}`);
  const value = line.slice(at + separator.length);
  if (!key.trimStart().startsWith('{')) return { key, value };
  try {
    JSON.parse(key);
  } catch (error) {
    throw new SetupError(
      `line ${number}: the key before the first ${shown} is no JSON object: ${shorten(key)}; choose a --key-separator that no key has, such as "\\t"`,
      { cause: error },
    );
  }
  return { key: compactTextAt(key, [])!, value };
}

function keyOf(line: string, value: unknown, path: readonly string[], number: number): string {
  const key = valueAt(value, path);
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean') return String(key);
  if (isJsonObject(key)) return compactTextAt(line, path)!;
  const text = JSON.stringify(key) as string | undefined;
  const found = text === undefined ? 'nothing' : shorten(text);
  throw new SetupError(
    `line ${number}: --key ${path.join('.')}: expected a string, a number or an object there, got ${found}${keyHint(value, path)}`,
  );
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
