import { setTimeout as delay } from 'node:timers/promises';
import { TopicRecords } from '../ops/check/topic-records.ts';
import type { CheckedTopic } from '../ops/check/topic-records.ts';
import { firstSamples } from '../graph/embedded/first-samples.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { errorOf } from '../base/errors.ts';
import type { GraphDecoders } from '../kafka/decoding/graph-decoders.ts';
import type { Logger } from '../base/log.ts';
import type { Component, RoleServices } from './services.ts';

/** Wait before topics that had no records are looked at again; doubled each time. */
const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 60_000;

export interface RecordCheckServices extends Pick<RoleServices, 'config' | 'log'> {
  readonly graph: Graph;
}

/**
 * Logs what does not fit between the graph and the records of its topics: one line for each topic and field. A topic that is away or
 * empty is compared with its first records, once they are there. Apart from the path of records: it has a connection of its own.
 */
export class RecordCheck implements Component {
  readonly #services: RecordCheckServices;
  readonly #records: TopicRecords;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(services: RecordCheckServices, decoders: GraphDecoders) {
    this.#services = services;
    this.#records = new TopicRecords(services.config, services.graph, decoders);
  }

  /** Compares the first sample records instead of those of Kafka. */
  startWithSamples(): void {
    this.#running ??= this.#checkSamples().catch((error: unknown) => this.#failed(error));
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the connection. Does not wait for a request that is under way. */
  close(): Promise<void> {
    this.#closed.abort();
    return Promise.resolve();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    let pending = this.#records.topics;
    for (let pauseMs = FIRST_PAUSE_MS; pending.length > 0 && !signal.aborted; pauseMs *= 2) {
      try {
        const checked = await this.#records.check(pending, signal);
        for (const one of checked) logMisfits(one, 'records of a topic', this.#services.log);
        pending = pending.filter((topic) => !checked.some((one) => one.topic === topic));
      } catch (error) {
        this.#failed(error);
      }
      if (pending.length > 0)
        await delay(Math.min(pauseMs, MAX_PAUSE_MS), undefined, { signal }).catch(() => undefined);
    }
  }

  async #checkSamples(): Promise<void> {
    const { graph, log } = this.#services;
    // The sampler says of the others why nobody receives them.
    for (const [topic, samples] of graph.samples ? firstSamples(graph.samples, graph).topics : []) {
      const checked = await this.#records.checkRecords(topic, samples, 'samples.ts');
      if (checked) logMisfits(checked, 'sample records', log);
    }
  }

  #failed(error: unknown): void {
    this.#services.log.debug({ err: { message: errorOf(error).message } }, 'comparing records with the graph failed');
  }
}

function logMisfits({ topic, misfits, records, undecodable }: CheckedTopic, what: string, log: Logger): void {
  // Of a topic that has others the worker logs each that cannot be decoded.
  if (undecodable && records === 0) {
    const { partition, offset, why, fix } = undecodable;
    const problems = [`the record cannot be decoded (${why}); ${fix}`];
    log.warn({ topic, partition, offset, problems }, `${what} cannot be decoded`);
  }
  for (const { field, partition, offset, problems: found, isCertain } of misfits) {
    const facts = { topic, field, partition, offset, compared: records, problems: found.map(({ text }) => text) };
    if (isCertain) log.warn(facts, `${what} do not fit schema.graphql`);
    else log.info(facts, `${what} do not have all that schema.graphql reads`);
  }
}
