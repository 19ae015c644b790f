import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { installPrograms, missingPrograms } from '../stack/programs.ts';
import { createTopics } from '../stack/topics.ts';
import { installPackages } from './packages.ts';
import type { Reading } from './kafka-clients/reader.ts';
import { pinned, SERVER_CORE } from './processes/pinning.ts';
import { base, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { median } from './runner/spread.ts';
import type { Cells } from './runner/table.ts';

const PARTITIONS = 48;
const RECORD_BYTES = 2048;
const INFLATED_BYTES = 64 * 1024 * 1024;
const READ_MS = 120_000;

/** Topics of many records, which have the names of their compression. */
const KINDS = ['none', 'lz4'] as const;
/** Topics of one record: a small one, and one that inflates. */
const SINGLES = { one: Buffer.from('{"id":1}'), gzip: Buffer.alloc(INFLATED_BYTES, '0') };

/** A client that reads, and the build of crier that it is of. */
interface Contender {
  readonly title: string;
  readonly client: string;
  readonly build: string;
}

export const scenario = defineScenario({
  name: 'kafka-clients',
  command: 'bench -- kafka-clients',
  question:
    'Reads the same records with each Kafka client: CPU for each record, and the memory that one small batch takes.',
  flags: {
    rounds: whole('rounds', 5),
    records: whole('records of each topic', 96_000),
    base: base('its client reads, too'),
  },
  packages: ['kafkajs', '@platformatic/kafka'],
  notes: 'Needs Node 22.22. Exits with 1 if a client loses or repeats a record.',
  run: async ({ flags: { rounds, records, base }, scope, say }) => {
    await installPrograms(await missingPrograms(['kcat', 'java', 'mvn']));
    installPackages('servers', say);
    const { address } = await scope.kafka();
    const contenders: Contender[] = [
      { title: 'crier', client: 'crier', build: 'dist' },
      ...(base === undefined ? [] : [{ title: 'the base', client: 'crier', build: dirname(dirname(base)) }]),
      { title: 'kafkajs', client: 'kafkajs', build: 'dist' },
      { title: '@platformatic/kafka', client: '@platformatic/kafka', build: 'dist' },
    ];
    await createTopics(address, [
      ...KINDS.map((topic) => ({ topic, numPartitions: PARTITIONS })),
      ...Object.keys(SINGLES).map((topic) => ({ topic, numPartitions: 1 })),
    ]);
    for (const kind of KINDS) await write(address, kind, recordsText(records));
    for (const [kind, record] of Object.entries(SINGLES)) await write(address, kind, record);
    const figures = new Map(contenders.map(({ title }) => [title, new Map<string, Reading[]>()]));
    for (let round = 0; round < rounds; round++) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const of = figures.get(contender.title)!;
        for (const kind of [...KINDS, ...Object.keys(SINGLES)]) {
          const reading = await read(contender, address, kind, kind in SINGLES ? 1 : records);
          of.set(kind, [...(of.get(kind) ?? []), reading]);
        }
        const costs = KINDS.map((kind) => `${kind} ${costOf(of.get(kind)!.at(-1)!).toFixed(1)} µs`);
        say(`round ${round + 1}, ${contender.title}: ${costs.join(', ')}`);
      }
    }
    const all = [...figures.values()].flatMap((of) => [...of.values()].flat());
    const wrong = all.filter(({ misplaced }) => misplaced > 0).length;
    return {
      intro: `Medians of ${rounds} rounds; the ratio of a client is the median of its rounds' own ratios to crier. ${PARTITIONS} partitions of one broker, JSON records of
${RECORD_BYTES} bytes, from the first quarter of the records to the last one. The batch inflates to ${INFLATED_BYTES / 2 ** 20} MB.`,
      sections: [{ table: tableOf(figures) }],
      success: 'No client lost or repeated a record.',
      faults: wrong === 0 ? [] : [`${wrong} runs lost or repeated records`],
      data: Object.fromEntries(Array.from(figures, ([title, of]) => [title, Object.fromEntries(of)])),
    };
  },
});

function recordsText(records: number): Buffer {
  const lines = Array.from({ length: records }, (_, id) => {
    const head = `${id}:{"id":${id},"items":[`;
    const item = (i: number) =>
      `{"sku":"${(id * 7919 + i * 104_729) % 1_000_003}","quantity":${i},"price":${(id % 977) + i / 4}},`;
    let text = head;
    for (let i = 0; text.length < RECORD_BYTES; i++) text += item(i);
    return `${text}0]}\n`;
  });
  return Buffer.from(lines.join(''));
}

async function write(brokers: string, kind: string, bytes: Buffer): Promise<void> {
  const limits = ['-X', 'message.max.bytes=100000000', '-X', 'linger.ms=50', '-X', 'batch.size=262144'];
  const keyed = kind in SINGLES ? [] : ['-K', ':'];
  const compression = kind === 'one' ? 'none' : kind;
  const child = spawn('kcat', ['-P', '-b', brokers, '-t', kind, '-z', compression, ...keyed, ...limits], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.end(bytes);
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`kcat ended with ${code}`);
}

async function read({ client, build }: Contender, brokers: string, topic: string, records: number): Promise<Reading> {
  const script = new URL('kafka-clients/reader.js', import.meta.url).pathname;
  const [command, ...words] = pinned(SERVER_CORE, [process.execPath, script]);
  const environment = { CLIENT: client, BUILD: build, KAFKA_BROKERS: brokers, TOPIC: topic, RECORDS: `${records}` };
  const child = spawn(command, words, {
    env: { ...process.env, ...environment, KAFKAJS_NO_PARTITIONER_WARNING: '1', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), READ_MS);
  const reading = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)]);
  clearTimeout(timer);
  if (!reading) throw new Error(`${client} did not read ${records} records of ${topic}`);
  return reading[0] as Reading;
}

/** Of a record, in µs. */
function costOf({ cpuMs, measured }: Reading): number {
  return (cpuMs * 1000) / measured;
}

function tableOf(figures: ReadonlyMap<string, ReadonlyMap<string, readonly Reading[]>>): Cells[] {
  const costs = (title: string, kind: string) => figures.get(title)!.get(kind)!.map(costOf);
  const cost = (title: string, kind: string) => {
    const own = costs(title, kind);
    const ratio = median(own.map((value, round) => value / costs('crier', kind)[round]!));
    return `${median(own).toFixed(1)} (${ratio.toFixed(2)} ×)`;
  };
  const peakMb = (readings: readonly Reading[]) => median(readings.map(({ peakBytes }) => peakBytes)) / 2 ** 20;
  return [
    ['client', ...KINDS.map((kind) => `CPU a record, ${kind}, µs`), 'memory: one small record, MB', 'the batch'],
    ...Array.from(figures, ([title, of]) => [
      title,
      ...KINDS.map((kind) => cost(title, kind)),
      ...Object.keys(SINGLES).map((kind) => peakMb(of.get(kind)!).toFixed(0)),
    ]),
  ];
}
