import type {
  Metric,
  MetricObject,
  MetricObjectWithValues,
  MetricValue,
  Registry as RegistryClass,
  RegistryContentType,
} from 'prom-client';
import { Registry } from './prom-client.ts';

type Values = MetricObjectWithValues<MetricValue<string>>;

/** What a registry renders. `getForPromString` spares histograms copies of their labels. */
interface Renderable extends MetricObject {
  get(): Promise<Values>;
  getForPromString?(): Promise<Values>;
}

const { OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE } = Registry;

/**
 * The text of a registry's metrics. Only OpenMetrics has exemplars. A registry of prom-client has one content type, and renames its counters
 * when it renders OpenMetrics: so this renders views of the metrics, in a registry of their own.
 */
export function expose(
  metrics: Pick<RegistryClass<RegistryContentType>, 'getMetricsAsArray'>,
  contentType: RegistryContentType,
): Promise<string> {
  const views = createRegistry(contentType);
  for (const metric of metrics.getMetricsAsArray() as unknown as readonly Renderable[]) {
    const name = familyName(metric, contentType);
    const get = async () => ({ ...(await (metric.getForPromString?.() ?? metric.get())), name });
    views.registerMetric({ name, type: metric.type, get } as unknown as Metric);
  }
  return views.metrics();
}

export function createRegistry<T extends RegistryContentType>(contentType: T): RegistryClass<T> {
  const registry = new Registry<T>();
  registry.setContentType(contentType);
  return registry;
}

/** In OpenMetrics the samples of a counter have the suffix `_total`, its family has not. */
function familyName({ name, type }: MetricObject, contentType: RegistryContentType): string {
  if (String(type) !== 'counter') return name;
  const stem = name.replace(/_total$/, '');
  return contentType === OPENMETRICS_CONTENT_TYPE ? stem : `${stem}_total`;
}

/** The content type for an Accept header: OpenMetrics 1.0.0 if it is accepted and the text format is not preferred. */
export function contentTypeFor(accept = ''): RegistryContentType {
  const ranges = accept.split(',').map(mediaRange);
  const qualityOf = (isMeant: (range: MediaRange) => boolean) =>
    Math.max(0, ...ranges.filter(isMeant).map(({ quality }) => quality));
  const openMetrics = qualityOf(
    ({ type, version }) => type === 'application/openmetrics-text' && (version === '1.0.0' || version === undefined),
  );
  const text = qualityOf(({ type }) => type === 'text/plain' || type === 'text/*');
  return openMetrics > 0 && openMetrics >= text ? OPENMETRICS_CONTENT_TYPE : PROMETHEUS_CONTENT_TYPE;
}

interface MediaRange {
  readonly type: string;
  readonly version: string | undefined;
  /** NaN counts as 0. */
  readonly quality: number;
}

/** Reads a part of an Accept header such as `text/plain;version=0.0.4;q=0.5`. */
function mediaRange(text: string): MediaRange {
  const [type, ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const values = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
  return { type: type!, version: values.get('version'), quality: Number(values.get('q') ?? 1) || 0 };
}
