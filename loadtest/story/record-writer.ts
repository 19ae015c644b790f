import { spawn } from 'node:child_process';
import kafkajs from 'kafkajs';
import { TOPIC } from './copies.ts';

/** Where Kafka is gone, a writer would wait for minutes. */
const CLOSE_TIMEOUT_MS = 10_000;

/** kcat waits for whole blocks of its input, whatever is in them; empty lines fill one up, and are no records. */
const KCAT_BLOCK_BYTES = 1024;

/** One of the flood's writers. */
export interface RecordWriter {
  /** Takes lines of records; they reach Kafka in a moment. */
  write(lines: string): void;
  /** Resolves when all are in Kafka. Idempotent. @throws Error when they are not. */
  close(): Promise<void>;
}

/** A kcat that reads records from us, one per line. It ends when we do. */
export function startKcat(brokers: string): RecordWriter {
  // Without linger the first record of a moment does not wait for others.
  const child = spawn('kcat', ['-P', '-b', brokers, '-t', TOPIC, '-X', 'linger.ms=0'], {
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
    write: (lines) => void child.stdin.write(lines + '\n'.repeat(-Buffer.byteLength(lines) & (KCAT_BLOCK_BYTES - 1))),
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
export async function startKafkajsWriter(brokers: string): Promise<RecordWriter> {
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
    write: (lines) => {
      const messages = lines.trimEnd().split('\n');
      const send = producer
        .send({ topic: TOPIC, messages: messages.map((value) => ({ value })) })
        .catch((error: Error) => (failure = error))
        .finally(() => pending.delete(send));
      pending.add(send);
    },
    close: async () => {
      await Promise.all(pending);
      await producer.disconnect();
      if (failure) throw failure;
    },
  };
}
