import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { TOPIC } from './copies.ts';

/** Without Kafka a writer would wait for minutes. */
const CLOSE_TIMEOUT_MS = 10_000;

/** kcat reads its input in whole blocks. Empty lines, which it skips, fill a block. */
const KCAT_BLOCK_BYTES = 1024;

/** Sends that wait in a kafkajs writer before `write` waits. */
const MAX_SENDS = 5;

/** A writer of the flood. It writes all of its records to one partition, in order. */
export interface RecordWriter {
  /** Sends lines of records. Resolves when the writer can take more; never rejects. */
  write(lines: string): Promise<void>;
  /** Resolves when all records are in Kafka. Idempotent. @throws Error when one is not. */
  close(): Promise<void>;
}

/** A kcat child that reads one record per line from a pipe. It ends with this process. */
function startKcat(brokers: string, partition: number): RecordWriter {
  // No linger: a record does not wait for others.
  const child = spawn('kcat', ['-P', '-b', brokers, '-t', TOPIC, '-p', String(partition), '-X', 'linger.ms=0'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-1000)));
  child.stdin.on('error', () => undefined);
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `ended with ${code ?? signal}: ${output}`));
  });
  return {
    write: async (lines) => {
      const padding = '\n'.repeat(-Buffer.byteLength(lines) & (KCAT_BLOCK_BYTES - 1));
      if (!child.stdin.write(lines + padding)) await Promise.race([once(child.stdin, 'drain'), ended]);
    },
    close: async () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill(), CLOSE_TIMEOUT_MS);
      const failure = await ended;
      clearTimeout(timer);
      if (failure !== undefined) throw new Error(`kcat ${failure}`);
    },
  };
}

/** A kafkajs producer in this process, for machines without kcat. */
async function startKafkajsWriter(brokers: string, partition: number): Promise<RecordWriter> {
  const kafka = new kafkajs.Kafka({
    clientId: 'story',
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  let pending = 0;
  // One send at a time: kafkajs encodes sends concurrently, so a later one may overtake.
  let sends: Promise<unknown> = Promise.resolve();
  let failure: Error | undefined;
  return {
    write: async (lines) => {
      const messages = lines
        .trimEnd()
        .split('\n')
        .map((value) => ({ value, partition }));
      const before = sends;
      pending++;
      sends = before
        .then(() => producer.send({ topic: TOPIC, messages }))
        .catch((error: Error) => (failure = error))
        .finally(() => pending--);
      if (pending > MAX_SENDS) await before;
    },
    close: async () => {
      await Promise.race([sends, delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
      const unsent = pending;
      await producer.disconnect();
      if (failure) throw failure;
      if (unsent > 0) throw new Error(`kafkajs did not send ${unsent} batches within ${CLOSE_TIMEOUT_MS / 1000} s`);
    },
  };
}

export interface WritersOptions {
  readonly kafkaBrokers: string;
  /** Number of concurrent writers. */
  readonly writerCount: number;
  readonly partitions: number;
  readonly hasKcat: boolean;
}

/** Assigns partitions to the writers round-robin. */
export async function startWriters({
  kafkaBrokers,
  writerCount,
  partitions,
  hasKcat,
}: WritersOptions): Promise<RecordWriter[]> {
  const partitionsOfWriters = Array.from({ length: writerCount }, (_, writer) => writer % partitions);
  if (hasKcat) return partitionsOfWriters.map((partition) => startKcat(kafkaBrokers, partition));
  return Promise.all(partitionsOfWriters.map((partition) => startKafkajsWriter(kafkaBrokers, partition)));
}

/** Resolves with the failures when all writers have ended. */
export async function closeWriters(writers: readonly RecordWriter[]): Promise<string[]> {
  const ends = await Promise.allSettled(writers.map((writer) => writer.close()));
  return ends.flatMap((end) => (end.status === 'rejected' ? [`the flood's ${(end.reason as Error).message}`] : []));
}
