import { after, before } from 'node:test';
import { kafkaBrokers } from './services.ts';

/** In a `describe`: its tests have a Kafka, whose `host:port` `use` gets before the first of them. */
export function withKafka(use: (brokers: string) => void): void {
  const stops: (() => Promise<void>)[] = [];
  before(async () => use(await kafkaBrokers({ after: (stop) => stops.push(stop) })));
  after(async () => {
    for (const stop of stops) await stop();
  });
}
