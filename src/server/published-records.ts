import type { Config } from '../config/config.ts';
import type { EmbeddedPosition, EmbeddedRecord } from '../graph/embedded/embedded-topics.ts';
import type { Graph } from '../graph/graph-parts.ts';
import type { Binding } from '../graph/schema/binding.ts';
import type { ReadRecord } from '../ops/check/newest-records.ts';
import { TopicRecords } from '../ops/check/topic-records.ts';
import type { CheckedTopic } from '../ops/check/topic-records.ts';

/** Of a value that a record lacks, or of what a tombstone reaches: the event comes. */
const OF_NO_EVENT = /^(?:\w+\.\w+|tombstone): /;

/** The records that a test has published, to say why a subscription received none of them. */
export class PublishedRecords {
  readonly #records = new Map<string, ReadRecord[]>();

  get topics(): ReadonlyMap<string, readonly ReadRecord[]> {
    return this.#records;
  }

  add(record: EmbeddedRecord & EmbeddedPosition): void {
    const { topic } = record;
    const read = { headers: {}, ...record, offset: String(record.offset) };
    this.#records.set(topic, [...(this.#records.get(topic) ?? []), read]);
  }

  /** What does not fit between the records and a field. */
  async problems(config: Config, graph: Graph, { field, topics }: Binding): Promise<string[]> {
    const records = new TopicRecords(config, graph, { values: new Map(), keys: new Map() });
    const checked = await Promise.all(
      topics.map((topic) => records.checkRecords(topic, this.#records.get(topic) ?? [], 'what the test publishes')),
    );
    return checked.flatMap((one) => (one ? problemsOf(one, field) : [])).filter((text) => !OF_NO_EVENT.test(text));
  }
}

function problemsOf({ undecodable, misfits }: CheckedTopic, field: string): string[] {
  const ofField = misfits.filter((one) => one.field.endsWith(`.${field}`));
  const texts = ofField.flatMap(({ problems }) => problems.map(({ text }) => text));
  if (undecodable) texts.unshift(`${undecodable.count} cannot be decoded: ${undecodable.why}; ${undecodable.fix}`);
  return texts;
}
