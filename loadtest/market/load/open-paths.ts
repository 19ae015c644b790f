import { setTimeout as delay } from 'node:timers/promises';
import type { Remote } from '../../processes/process-call.ts';
import type { FleetProcess } from '../clients/fleet-process.ts';
import type { Market } from './market.ts';
import type { MarketProducer } from './producer.ts';

/** Interval of the marks that are written until every subscription has received one. */
const MARK_TIMEOUT_MS = 3000;
const MARK_ATTEMPTS = 10;
const POLL_MS = 50;

export interface Paths {
  readonly market: Market;
  readonly producer: MarketProducer;
  readonly fleet: Pick<Remote<FleetProcess>, 'progress'>;
  /** Count of clients that are waited for. */
  readonly clients: number;
  readonly signal: AbortSignal;
}

/** Writes marks until each subscription has received one of each of its lanes, because the protocol does not acknowledge a subscribe. */
export async function openPaths({ market, producer, fleet, clients, signal }: Paths): Promise<void> {
  for (let attempt = 1; attempt <= MARK_ATTEMPTS; attempt++) {
    await producer.send(market.marks(Date.now()));
    const deadline = performance.now() + MARK_TIMEOUT_MS;
    while (performance.now() < deadline) {
      signal.throwIfAborted();
      if ((await fleet.progress()).live >= clients) return;
      await delay(POLL_MS);
    }
  }
  const { live } = await fleet.progress();
  throw new Error(`${clients - live} of ${clients} clients received nothing of their subscriptions`);
}
