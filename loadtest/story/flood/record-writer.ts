import { spawn } from 'node:child_process';
import { once } from 'node:events';
import kafkajs from 'kafkajs';
import { TOPIC } from './copies.ts';

/** Where Kafka is gone, a writer would wait for minutes. */
const CLOSE_TIMEOUT_MS = 10_000;

/** kcat waits for whole blocks of its input, whatever is in them; empty lines fill one up, and are no records. */
const KCAT_BLOCK_BYTES = 1024;

/** What a writer of kafkajs has under way before it asks to be waited for. */
const MOST_SENDS = 5;

/** One of the flood's writers: all of its records go to one partition, in their order. */
export interface RecordWriter {
  /** Takes lines of records; they reach Kafka in a moment. Resolves when it is time for more; never rejects. */
  write(lines: string): Promise<void>;
  /** Resolves when all are in Kafka. Idempotent. @throws Error when they are not. */
  close(): Promise<void>;
}

/** A kcat that reads records from us, one per line. It ends when we do. */
function startKcat(brokers: string, partition: number): RecordWriter {
  // Without linger the first record of a moment does not wait for others.
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

/** Where there is no kcat: the producer of kafkajs in this process. */
async function startKafkajsWriter(brokers: string, partition: number): Promise<RecordWriter> {
  const kafka = new kafkajs.Kafka({
    clientId: 'story',
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const pending = new Set<Promise<unknown>>();
  let failure: Error | undefined;
  return {
    write: async (lines) => {
      const messages = lines.trimEnd().split('\n');
      const send = producer
        .send({ topic: TOPIC, messages: messages.map((value) => ({ value, partition })) })
        .catch((error: Error) => (failure = error))
        .finally(() => pending.delete(send));
      pending.add(send);
      while (pending.size > MOST_SENDS) await Promise.race(pending);
    },
    close: async () => {
      await Promise.all(pending);
      await producer.disconnect();
      if (failure) throw failure;
    },
  };
}

export interface WritersOptions {
  readonly kafkaBrokers: string;
  /** Writers at the same time. */
  readonly loops: number;
  readonly partitions: number;
  readonly hasKcat: boolean;
}

/** The writers take turns with the partitions. */
export async function startWriters({
  kafkaBrokers,
  loops,
  partitions,
  hasKcat,
}: WritersOptions): Promise<RecordWriter[]> {
  const ofWriters = Array.from({ length: loops }, (_, writer) => writer % partitions);
  if (hasKcat) return ofWriters.map((partition) => startKcat(kafkaBrokers, partition));
  return Promise.all(ofWriters.map((partition) => startKafkajsWriter(kafkaBrokers, partition)));
}

/** Resolves with what went wrong when all of them have ended. */
export async function closeWriters(writers: readonly RecordWriter[]): Promise<string[]> {
  const ends = await Promise.allSettled(writers.map((writer) => writer.close()));
  return ends.flatMap((end) => (end.status === 'rejected' ? [`the flood's ${(end.reason as Error).message}`] : []));
}
