import type { Graph } from '../graph-parts.ts';
import { isRecordPart } from '../record-parts.ts';
import type { Binding } from '../schema/binding.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import type { Logger } from '../../base/log.ts';

/** Says where the events of a graph without sample records come from, if from anywhere. */
export function logMissingSamples(
  log: Logger,
  { name, schema, samples, bindings }: Pick<Graph, 'name' | 'schema' | 'samples' | 'bindings'>,
  { isFed, names }: { readonly isFed: boolean; readonly names: SettingNames },
): void {
  if (samples || bindings.size === 0) return;
  if (isFed) {
    log.info(
      { graph: name },
      `the graph has no samples: without ${names.KAFKA_BROKERS} and ${names.REDIS_URL} events come from records that the program gives to publish()`,
    );
    return;
  }
  const silence = schema.getMutationType() ? 'no event will come but from mutations' : 'no event will come';
  log.warn(
    { graph: name },
    `${silence}: without ${names.KAFKA_BROKERS} and ${names.REDIS_URL} the records come from samples.ts, and the graph has none. Set both, or add the file: ${exampleOf([...bindings.values()][0]!)}`,
  );
}

/** The text of a samples.ts whose records a subscriber of the id "1" receives. */
function exampleOf({ topics, match, payload }: Binding): string {
  const path = match.find((one) => !isRecordPart(one.path))?.path.split('.') ?? [...payload, 'id'];
  const value = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), '1');
  const record = `{ topic: ${JSON.stringify(topics[0])}, value: ${JSON.stringify(value)} }`;
  return `export function* records() { for (;;) yield ${record}; }`;
}
