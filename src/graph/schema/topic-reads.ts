import { nameOf } from '../../base/json/key-naming.ts';
import type { ReadChange } from '../../bus/row-change.ts';
import type { LoadFormat } from '../formats.ts';
import type { Graph } from '../graph-parts.ts';
import { isRecordPart } from '../record-parts.ts';
import type { PayloadShape } from './payload-shape.ts';

/** What a graph reads of one topic, and what it says of the topic's records. */
export interface TopicReads {
  readonly topic: string;
  /** undefined: each record says it. */
  readonly format: string | undefined;
  /** Whose newest schema decodes records that name none; undefined: records name their schema. */
  readonly subject: string | undefined;
  /** undefined: the format is one of crier's. */
  readonly loadFormat: LoadFormat | undefined;
  /** undefined: a record is the payload itself. `read`: of an envelope that the graph brings. */
  readonly envelope: { readonly name: string; readonly read: ReadChange | undefined } | undefined;
  readonly nameOf: (key: string) => string;
  /** What fields read at each place of the payloads. */
  readonly shape: PayloadShape;
  /** Paths in the payload that choose the channels. */
  readonly paths: readonly (readonly string[])[];
}

export function topicReads({
  bindings,
  shapes,
  formats,
  envelopes,
}: Pick<Graph, 'bindings' | 'shapes' | 'formats' | 'envelopes'>): readonly TopicReads[] {
  return [...shapes].map(([topic, shape]) => {
    const fields = [...bindings.values()].filter(({ topics }) => topics.includes(topic));
    const paths = fields.flatMap(({ match, where }) => [...match, ...where].map(({ path }) => path));
    const format = fields.find((one) => one.format !== undefined)?.format;
    const envelope = fields[0]?.envelope;
    return {
      topic,
      format,
      subject: fields.find((one) => one.subject !== undefined)?.subject,
      envelope: envelope === undefined ? undefined : { name: envelope, read: envelopes[envelope] },
      loadFormat: format === undefined ? undefined : formats[format],
      nameOf: nameOf(fields[0]?.keys ?? 'SNAKE'),
      shape,
      paths: paths.filter((path) => !isRecordPart(path)).map((path) => path.split('.')),
    };
  });
}

/** True if the topic's records may name a schema of a registry. */
export function mayHaveSchema({ format, loadFormat }: TopicReads): boolean {
  return format !== 'JSON' && !loadFormat;
}
