import { deserialize, serialize } from 'node:v8';
import type { Registry, RegistryContentType } from 'prom-client';
import type { Aggregator } from '../metrics/prom-client.ts';

/** One series of a metric, or one of those that a histogram has. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Of a histogram's series, with its suffix. */
  readonly metricName?: string;
  readonly exemplar?: object | undefined;
}

/** A metric and its values at one time. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** Default: `sum`. */
  readonly aggregator?: Aggregator | undefined;
  readonly values: readonly Sample[];
}

type MetricsSource = Pick<Registry<RegistryContentType>, 'getMetricsAsArray'>;

/** The values of all metrics now. */
export async function readFamilies(registry: MetricsSource): Promise<Family[]> {
  const metrics = registry.getMetricsAsArray() as unknown as (Family & { get(): Promise<Pick<Family, 'values'>> })[];
  return Promise.all(
    metrics.map(async (metric) => {
      const { values } = await metric.get();
      const { name, help, type, aggregator } = metric;
      return { name, help, type, aggregator, values };
    }),
  );
}

/** Not as JSON, which has no NaN and no Infinity. */
export function packFamilies(families: readonly Family[]): Buffer {
  return serialize(families);
}

/** @param packed by another process of this pod */
export function unpackFamilies(packed: Buffer): readonly Family[] {
  return deserialize(packed) as readonly Family[];
}

/** What renders them as a registry of prom-client would. */
export function asRegistry(families: readonly Family[]): MetricsSource {
  const metrics = families.map((family) => ({ ...family, get: () => Promise.resolve(family) }));
  return { getMetricsAsArray: () => metrics as unknown as ReturnType<MetricsSource['getMetricsAsArray']> };
}
