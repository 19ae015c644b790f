import { LAST_MESSAGE } from '../bus/history.ts';
import { LogWindow } from '../base/log.ts';
import { gluePackageFile } from '../config/glue-package.ts';
import { changeDemands } from '../graph/change-demands.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { keyedTopics } from '../graph/keyed-topics.ts';
import { partsDemands } from '../graph/parts-demands.ts';
import { PartsPrinter } from '../graph/parts-printer.ts';
import { createRouters } from '../graph/router.ts';
import type { OnUnfitKey, TopicRouter } from '../graph/router.ts';
import { isKeyPart, partLabel } from '../graph/record-parts.ts';
import { observeRouting } from '../graph/router-metrics.ts';
import { keyPlaces } from '../graph/schema/key-places.ts';
import { topicReads } from '../graph/schema/topic-reads.ts';
import { stateSignatures } from '../graph/state/state-signature.ts';
import { Converter } from '../kafka/decoding/converter.ts';
import { ConnectSchemas } from '../kafka/decoding/connect/connect-schemas.ts';
import type { EnvelopeOptions } from '../kafka/decoding/envelopes/change-converter.ts';
import { valuePlace } from '../kafka/decoding/envelopes/envelope.ts';
import { envelopeOf } from '../kafka/decoding/envelopes/envelopes.ts';
import type { RecordLimits } from '../kafka/decoding/record.ts';
import type { GraphDecoders } from '../kafka/decoding/graph-decoders.ts';
import { ownFormats } from '../kafka/decoding/own-format.ts';
import { recordKeysOf } from '../kafka/decoding/record-keys.ts';
import { UnavailableValues } from '../kafka/decoding/unavailable-values.ts';
import { observeRewriting } from '../kafka/record-metrics.ts';
import { SnakeCase } from '../kafka/decoding/snake-case.ts';
import { keyFix } from '../kafka/undecodable-reason.ts';
import { RecordCheck } from './record-check-stage.ts';
import type { DecodersOf, openSchemaRegistry } from './schema-registry-stage.ts';
import type { RoleServices } from './services.ts';

const LOG_WINDOW_MS = 10_000;

/** How a worker makes messages of records, for one graph. */
export interface WorkerGraph {
  readonly topics: readonly string[];
  /** By topic: names the states that it keeps. */
  readonly signatures: ReadonlyMap<string, string>;
  readonly routers: ReadonlyMap<string, TopicRouter>;
  readonly converter: Converter;
  /** Of the parts of records that messages carry, by topic. */
  readonly printers: ReadonlyMap<string, PartsPrinter>;
  readonly check: RecordCheck;
}

/** What the graphs that a worker serves one after the other share. */
interface WorkerGraphPorts {
  readonly limits: RecordLimits;
  readonly snakeCase: SnakeCase;
  readonly decodersOf: DecodersOf;
  /** Called for each number that JSON cannot print. */
  readonly onOverflow: () => void;
  readonly unavailable: UnavailableValues;
  /** Called with the values of a row of a topic that became null because nobody knows them. */
  readonly onUnknown: (topic: string, values: number) => void;
}

const OTHER_KEY =
  'the key of a record is not its value at the path that tombstones are routed by: tombstones of this topic reach nobody, or the wrong subscriptions; ' +
  'match the member of the key that has the value ({ arg: "…", key: "…" }), or add state: {}';
const NO_MEMBER =
  'the key of a record has no value at a path that a field matches: a record or a tombstone without it reaches only subscriptions to every key; ' +
  'correct the path in @kafka, or what the producer writes';
const UNREADABLE_KEY =
  'the key of a record cannot be read. Without the value of a key, a tombstone of this topic reaches only subscriptions to every key, and fields with ' +
  'state, and a match on the key reaches nobody';

const FILLED_ROWS =
  'a row before a change does not count, because nothing shows that it is whole: the change reaches the subscriptions that its key names, and not those ' +
  'of its other columns. With REPLICA IDENTITY FULL and before: WHOLE in @kafka, rows before count';
const LACKING_ROWS =
  'an update has no row before, though before: WHOLE says that rows before are whole: a row that leaves a channel is not told there, and a delete may ' +
  'reach the channels of values that the database made up. Give each table of the topic REPLICA IDENTITY FULL, or remove before: WHOLE';

/** The graph whose records the worker publishes, with its metrics. */
export async function openWorkerGraph(services: RoleServices): Promise<{ readonly current: WorkerGraph }> {
  const { config, graph, metrics, register } = services;
  const ports = await openPorts(services);
  const open = (next: Graph) => createWorkerGraph(services, ports, next);
  const served = graph.derive(open(graph.current), {
    open,
    serve: (next, former) => {
      continueCounts(former, next);
      void former.check.close();
      if (config.isEmbedded) next.check.startWithSamples();
      else next.check.start();
    },
  });
  register({ close: () => served.current.check.close() });
  observeRouting(metrics, () => served.current);
  return served;
}

async function openPorts(services: RoleServices): Promise<WorkerGraphPorts> {
  const { config, metrics } = services;
  const snakeCase = new SnakeCase();
  let overflows = 0;
  observeRewriting(metrics, snakeCase, () => overflows);
  const unknown = metrics.increments(
    'crier_unavailable_values_total',
    'Values that a database did not log, of which no state knows the last one. They became null.',
    ['topic'],
  );
  const limits = { maxBytes: config.MAX_RECORD_BYTES, maxDepth: config.MAX_RECORD_DEPTH };
  const onOverflow = () => overflows++;
  return {
    limits,
    snakeCase,
    decodersOf: await openDecoders(services, { limits, onOverflow }),
    onOverflow,
    unavailable: new UnavailableValues(config.UNAVAILABLE_VALUE),
    onUnknown: (topic, values) => unknown.inc({ topic }, values),
  };
}

/** Without a registry no record has a schema. The graph's sample records are JSON, whatever the format of their topic. */
async function openDecoders(
  services: RoleServices,
  options: Parameters<typeof openSchemaRegistry>[1],
): Promise<DecodersOf> {
  const { SCHEMA_REGISTRY_URL, GRAPH, isEmbedded } = services.config;
  const withoutRegistry = (values: GraphDecoders['values']) => ({ values, keys: new Map() });
  if (isEmbedded) return () => withoutRegistry(new Map());
  if (SCHEMA_REGISTRY_URL.length === 0 && gluePackageFile(GRAPH) === undefined)
    return (graph) => withoutRegistry(ownFormats(topicReads(graph), services.log));
  const { openSchemaRegistry } = await import('./schema-registry-stage.ts');
  return openSchemaRegistry(services, options);
}

/** By topic whose records carry rows that changed. */
function envelopesOf(
  graph: Graph,
  { limits, onOverflow, unavailable, onUnknown }: WorkerGraphPorts,
  { bus, log }: Pick<RoleServices, 'bus' | 'log'>,
): ReadonlyMap<string, EnvelopeOptions> {
  const lastOf = async (channel: string) => {
    const { entries } = await bus.history(channel, LAST_MESSAGE);
    return entries.at(-1)?.payload;
  };
  const bindings = [...graph.bindings.values()];
  const demands = changeDemands(bindings);
  const whole = new Set(bindings.flatMap(({ topics, hasWholeRows }) => (hasWholeRows ? topics : [])));
  const mistakes = new LogWindow(LOG_WINDOW_MS);
  const envelopes = new Map<string, EnvelopeOptions>();
  for (const { topic, envelope: named, nameOf, shape } of topicReads(graph)) {
    if (!named) continue;
    const envelope = envelopeOf(named, (mistake) =>
      mistakes.run(topic, (suppressed) =>
        log.warn({ topic, reason: mistake, suppressed }, 'an envelope of the graph failed; correct it in envelopes.ts'),
      ),
    );
    const schemas = new ConnectSchemas({ nameOf, shape: valuePlace(envelope, shape), limits, onOverflow });
    envelopes.set(topic, {
      envelope,
      demand: demands.get(topic)!,
      schemas,
      lastOf,
      unavailable,
      hasWholeRows: whole.has(topic),
      onFilled: () => log.warn({ topic }, FILLED_ROWS),
      onLacking: () => log.warn({ topic }, LACKING_ROWS),
      onUnknown: (values) => onUnknown(topic, values),
    });
  }
  return envelopes;
}

function createWorkerGraph({ config, bus, log }: RoleServices, ports: WorkerGraphPorts, graph: Graph): WorkerGraph {
  const { limits, snakeCase, decodersOf } = ports;
  const bindings = [...graph.bindings.values()];
  const onUnfitKey: OnUnfitKey = (topic, path, found, problem) => {
    if (path === undefined) {
      log.warn({ topic, key: found }, `${UNREADABLE_KEY}; ${keyFix(problem, config.names)}`);
    } else log.warn({ topic, path: partLabel(path), key: found }, isKeyPart(path) ? NO_MEMBER : OTHER_KEY);
  };
  const routers = createRouters(bindings, config.CHANNEL_PREFIX, onUnfitKey, config.MAX_CHANNEL_BYTES);
  const printers = new Map(
    Array.from(partsDemands(bindings), ([topic, demand]) => [topic, new PartsPrinter(demand)] as const),
  );
  const decoders = decodersOf(graph);
  const places = keyPlaces(bindings, graph.shapes);
  const converter = new Converter(routers, limits, snakeCase, {
    hasRewriter: config.KEY_REWRITER,
    decoders: decoders.values,
    keyPlaces: places,
    recordKeys: recordKeysOf(keyedTopics(bindings), {
      limits,
      snakeCase,
      keyPlaces: places,
      decoders: decoders.keys,
    }),
    envelopes: envelopesOf(graph, ports, { bus, log }),
  });
  return {
    topics: [...new Set(bindings.flatMap(({ topics }) => topics))],
    signatures: stateSignatures(bindings, bus.stateFills.places),
    routers,
    converter,
    printers,
    check: new RecordCheck({ config, graph, log }, decoders),
  };
}

/** Counters of a graph go on from those of the former one. */
function continueCounts(former: WorkerGraph, { routers, printers }: WorkerGraph): void {
  for (const [topic, router] of routers) {
    const counted = former.routers.get(topic);
    if (counted) router.continueFrom(counted);
  }
  for (const [topic, printer] of printers) printer.omitted += former.printers.get(topic)?.omitted ?? 0;
}
