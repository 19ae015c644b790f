import { nameOf } from '../../base/json/key-naming.ts';
import type { Graph } from '../graph.ts';
import { isRecordPart } from '../record-parts.ts';
import type { PayloadShape } from './payload-shape.ts';
import type { RecordFormat } from './record-format.ts';

/** What a graph reads of one topic, and what it says of the topic's records. */
export interface TopicReads {
  readonly topic: string;
  /** undefined: each record says it. */
  readonly format: RecordFormat | undefined;
  readonly nameOf: (key: string) => string;
  /** What fields read at each place of the payloads. */
  readonly shape: PayloadShape;
  /** Paths in the payload that choose the channels. */
  readonly paths: readonly (readonly string[])[];
}

export function topicReads({ bindings, shapes }: Pick<Graph, 'bindings' | 'shapes'>): readonly TopicReads[] {
  return [...shapes].map(([topic, shape]) => {
    const fields = [...bindings.values()].filter(({ topics }) => topics.includes(topic));
    const paths = fields.flatMap(({ match, where }) => [...match, ...where].map(({ path }) => path));
    return {
      topic,
      format: fields.find(({ format }) => format !== undefined)?.format,
      nameOf: nameOf(fields[0]?.keys ?? 'SNAKE'),
      shape,
      paths: paths.filter((path) => !isRecordPart(path)).map((path) => path.split('.')),
    };
  });
}
