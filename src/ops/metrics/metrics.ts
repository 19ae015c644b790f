import type { Counter as CounterClass, Metric } from 'prom-client';
import { Histogram } from './histogram.ts';
import type { HistogramOptions } from './histogram.ts';
import { Counter, Gauge, Registry, collectDefaults } from './prom-client.ts';

/** Prometheus's naming rules: https://prometheus.io/docs/practices/naming/ */
type CounterName = `crier_${string}_total`;

/** On the path of an event, in its order. */
const STAGES = ['fetch', 'decode', 'publish', 'redis', 'wait', 'execute', 'write'] as const;

type ReadLabelled<Label extends string> = () => Iterable<{
  readonly labels: Record<Label, string>;
  readonly value: number;
}>;

/** crier's metrics, in a registry of their own: two servers can run in one process. docs/operations.md lists the names. */
export class Metrics {
  /** exposition.ts renders it. */
  readonly registry = new Registry();
  readonly recordsConsumed = this.#counter('crier_records_consumed_total', 'Records read from Kafka or the samples.', [
    'topic',
  ]);
  readonly poisonRecords = this.#counter(
    'crier_poison_records_total',
    'Records that could not be decoded, by reason.',
    ['topic', 'reason'],
  );
  readonly recordBytes = this.#counter('crier_record_bytes_total', 'Bytes of the values of consumed records.', [
    'topic',
  ]);
  readonly deadLetterFailures = this.#counter(
    'crier_dead_letter_failures_total',
    'Poison records that were dropped because the dead-letter topic did not take them (DEAD_LETTER=DROP).',
  );
  readonly consumerRebuilds = this.#counter('crier_consumer_rebuilds_total', 'Times the Kafka consumer was replaced.', [
    'reason',
  ]);
  readonly missedRecords = this.#counter(
    'crier_kafka_missed_records_total',
    'Records that were deleted from their topic before a worker read them: their events are lost.',
    ['topic'],
  );
  readonly recordsPublished = this.#counter(
    'crier_published_records_total',
    'Records that mutations published, by outcome.',
    ['topic', 'outcome'],
  );
  readonly messagesPublished = this.#counter('crier_messages_published_total', 'Messages that Redis accepted.');
  readonly publishFailures = this.#counter(
    'crier_publish_failures_total',
    'Publishes and leases of partitions that Redis did not accept, by reason; they are retried.',
    ['reason'],
  );
  readonly busGaps = this.#counter(
    'crier_bus_gaps_total',
    'Times the subscriber link to Redis was lost and restored: messages may be missing.',
  );
  readonly unrecognisedMessages = this.#counter(
    'crier_unrecognised_messages_total',
    'Messages on crier channels that are not JSON.',
  );
  readonly staleMessages = this.#counter(
    'crier_stale_messages_total',
    'Messages discarded because clients had already received them or newer ones.',
  );
  readonly gaps = this.#counter(
    'crier_gaps_total',
    'Operations whose next event has gap: true because events may be missing, once until that event, by reason.',
    ['reason'],
  );
  readonly resumes = this.#counter('crier_resumes_total', 'Subscriptions that asked to resume, by outcome.', [
    'outcome',
  ]);
  readonly events = this.#counter('crier_events_total', 'Messages that this pod received from its channels.');
  readonly sharingAudit = this.#counter('crier_sharing_audit_total', 'Audits of shared results, by outcome.', [
    'outcome',
  ]);
  readonly connectionsOpened = this.#counter('crier_connections_opened_total', 'WebSockets accepted.');
  readonly connectionsClosed = this.#counter('crier_connections_closed_total', 'WebSockets closed, by close code.', [
    'code',
  ]);
  readonly refusals = this.#counter('crier_refusals_total', 'Handshakes and HTTP requests refused, by reason.', [
    'reason',
  ]);
  readonly authenticationFailures = this.#counter(
    'crier_authentication_failures_total',
    'Connections, HTTP requests and refreshes of tokens that were not authenticated, by reason.',
    ['reason'],
  );
  readonly revokedConnections = this.#counter(
    'crier_connections_revoked_total',
    'WebSockets closed because an operator revoked them or their tokens.',
  );
  readonly refusedRevocations = this.#counter(
    'crier_revocations_refused_total',
    'Revocations that closed connections and were not kept, because there are too many.',
  );
  readonly keyFetches = this.#counter('crier_token_key_fetches_total', 'Fetches of key sets (JWKS), by outcome.', [
    'outcome',
  ]);
  readonly expiredTokens = this.#counter(
    'crier_tokens_expired_total',
    'Connections closed because their token expired and was not refreshed.',
  );
  readonly refreshedTokens = this.#counter(
    'crier_tokens_refreshed_total',
    'Tokens that clients have replaced on a living connection.',
  );
  readonly slowConsumers = this.#counter('crier_slow_consumers_total', 'Connections closed because they did not read.');
  readonly documents = this.#counter('crier_documents_total', 'Look-ups in the document cache, by outcome.', [
    'outcome',
  ]);
  readonly rejectedTrustedDocuments = this.#counter(
    'crier_trusted_documents_rejected_total',
    'Changes of TRUSTED_DOCUMENTS that were not accepted.',
  );
  readonly graphReloads = this.#counter('crier_graph_reloads_total', 'Reloads of the graph, by outcome.', ['outcome']);
  readonly untrustedDocuments = this.#counter(
    'crier_untrusted_documents_total',
    'Requests for documents that TRUSTED_DOCUMENTS does not have: refused, or run with TRUSTED_DOCUMENTS_MODE=allowed.',
  );
  readonly failures = this.#counter(
    'crier_failures_total',
    'Unexpected failures that ended one operation or one connection.',
    ['ended'],
  );
  readonly compilations = this.#counter(
    'crier_compilations_total',
    'Operations in use, by outcome of their compilation.',
    ['outcome'],
  );
  readonly backendRequests = this.#counter('crier_backend_requests_total', 'Requests to backends, by outcome.', [
    'backend',
    'outcome',
  ]);
  readonly backendRetries = this.#counter('crier_backend_retries_total', 'Retries of backend requests, by outcome.', [
    'backend',
    'outcome',
  ]);
  readonly internalErrors = this.#counter('crier_internal_errors_total', 'Errors masked before they reached a client.');

  /** Each stage's series exist in the pods that have the stage. */
  readonly stages = this.histogram({
    name: 'crier_stage_seconds',
    help: 'Time that messages take from a Kafka record to the sockets, by stage; docs/operations.md says what each of them is.',
    labelName: 'stage',
    labelValues: STAGES,
  });

  constructor() {
    collectDefaults(this.registry);
    // Gauges with the suffix of counters, and only the sums of gauges without it.
    for (const name of ['handles', 'requests', 'resources'])
      this.registry.removeSingleMetric(`nodejs_active_${name}_total`);
  }

  /** A gauge whose value is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** A gauge with labels. Each scrape reports only the label values that `read` returns. */
  gauges<Label extends string>(name: string, help: string, labelNames: Label[], read: ReadLabelled<Label>): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.set(labels, value);
      },
    });
  }

  /** A counter whose value is read at each scrape. */
  total(name: CounterName, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** A counter with labels, whose values are read at each scrape. They must never fall. */
  counter<Label extends string>(name: CounterName, help: string, labelNames: Label[], read: ReadLabelled<Label>): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.inc(labels, value);
      },
    });
  }

  /** A histogram, whose series appear with their first `of`. */
  histogram(options: HistogramOptions): Histogram {
    const histogram = new Histogram(options);
    // Its types want one of prom-client's own classes; the registry reads `name`, `get` and `reset`.
    this.registry.registerMetric(histogram as unknown as Metric);
    return histogram;
  }

  #counter<Label extends string = never>(
    name: CounterName,
    help: string,
    labelNames: Label[] = [],
  ): CounterClass<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
