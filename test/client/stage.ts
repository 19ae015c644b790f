import type { TestContext } from 'node:test';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { createLog } from '../../src/base/log.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { OperationTallies } from '../../src/graph/documents/operation-tallies.ts';
import { startGateway } from '../../src/server/gateway-stage.ts';
import { startMemoryGuard } from '../../src/server/memory-guard-stage.ts';
import type { Component } from '../../src/server/services.ts';
import { Versioned } from '../../src/server/versioned.ts';
import { Tunables } from '../../src/ops/tunables/tunables.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { testConfig } from '../support/switches.ts';

const SCHEMA = `type Subscription {
  tick(key: ID!): Tick @kafka(topic: "ticks", match: [{ arg: "key", path: "key" }], history: {})
}
type Tick { key: ID, n: Int }
`;
/** Accepts connections without a token. */
const CONTEXT = `export const authenticate = ({ params }) => (params.token ?? 'fresh') === 'fresh' && {};`;

export const TICKS = 'subscription { tick(key: "a") { n } }';
const PREFIX = 'crier:';
const CHANNEL = `${PREFIX}ticks{key="a"}`;
const HISTORY = { entries: 300, bytes: 1_048_576, seconds: 120 };

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  /** Drains it. Idempotent. */
  close(): Promise<void>;
}

/** Real gateways that share one bus, as pods share a Redis, and a worker's publishing. */
export interface Stage {
  readonly bus: MemoryBus;
  /** Number of times that gateways have subscribed to the ticks. */
  readonly subscriptions: number;
  /** Number of published ticks. */
  readonly published: number;
  /** Publishes the next `count` ticks: n = 0, 1, 2, … */
  publish(count?: number): Promise<void>;
  /** Default of `port`: a free one. */
  gateway(settings?: Readonly<Record<string, string>>): Promise<RunningGateway>;
}

export async function createStage(t: TestContext): Promise<Stage> {
  const log = createLog('silent');
  const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA, 'context.js': CONTEXT }));
  const bus = new MemoryBus({ prefix: PREFIX, log });
  await bus.start();
  t.after(() => bus.close());
  const place = { topic: 'ticks', partition: 0 };
  await bus.acquire({ ...place, position: -1 });
  let subscriptions = 0;
  const subscribe = bus.subscribe.bind(bus);
  bus.subscribe = async (...parameters) => {
    const unsubscribe = await subscribe(...parameters);
    if (parameters[0] === CHANNEL) subscriptions++;
    return unsubscribe;
  };
  let published = 0;
  return {
    bus,
    get subscriptions() {
      return subscriptions;
    },
    get published() {
      return published;
    },
    publish: async (count = 1) => {
      for (let i = 0; i < count; i++) {
        const offset = published++;
        const payload = JSON.stringify({ key: 'a', n: offset });
        await bus.publish([{ channel: CHANNEL, payload, offset, timestamp: 0, history: HISTORY }], {
          ...place,
          offset,
        });
      }
    },
    gateway: async (settings) => {
      const components: Component[] = [];
      const register = <T extends Component>(component: T) => {
        components.push(component);
        return component;
      };
      let closing: Promise<void> | undefined;
      const close = () => (closing ??= closeAll(components));
      t.after(close);
      const config = testConfig({ HOST: '127.0.0.1', PORT: '0', CHANNEL_PREFIX: PREFIX, ...settings });
      const metrics = new Metrics();
      const tunables = new Tunables({ config, log });
      const { port = 0 } = await startGateway({
        config,
        tunables,
        graph: new Versioned(graph),
        bus,
        log,
        metrics,
        memory: startMemoryGuard({ config, tunables, log, metrics, register }),
        isLoopLate: () => false,
        details: {},
        register,
        unreadyWhile: () => undefined,
        draining: new AbortController().signal,
        routes: new Map(),
        live: { routes: new Map(), close: () => Promise.resolve() },
        tallies: new OperationTallies(),
        fastShutdown: new AbortController().signal,
      });
      return { port, url: `ws://127.0.0.1:${port}/graphql`, close };
    },
  };
}

async function closeAll(components: readonly Component[]): Promise<void> {
  for (const component of components.toReversed()) await component.close();
}

/** The port of a server that accepts connections and sends nothing. */
export async function silentPort(t: TestContext): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    t.after(() => void socket.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}
