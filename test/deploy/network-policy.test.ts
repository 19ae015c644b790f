import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRedisUrl } from '../../src/config/addresses/redis-address.ts';
import { manifestsOf, ofKind } from './manifests.ts';

interface EgressRule {
  readonly ports: readonly { readonly port: number }[];
}

/** Ports of the rules for Kafka and for Redis. */
interface ServerPorts {
  readonly kafka: readonly number[];
  readonly redis: readonly number[];
}

/** By role. */
async function serverPorts(values: Readonly<Record<string, unknown>>, example = 'roles'): Promise<ServerPorts[]> {
  const policies = ofKind(await manifestsOf({ example, values }), 'NetworkPolicy');
  policies.delete('crier-deletion-cost');
  return Array.from(policies.values(), ({ spec }) => {
    const [, kafka, redis] = (spec as unknown as { egress: [EgressRule, EgressRule, EgressRule] }).egress;
    return { kafka: portsOf(kafka), redis: portsOf(redis) };
  });
}

function portsOf({ ports }: EgressRule): number[] {
  return ports.map(({ port }) => port);
}

/** What crier connects to. */
function portsOfUrl(url: string): number[] {
  const address = parseRedisUrl(url);
  if (address.kind === 'cluster') return address.seeds.map(({ port }) => port);
  const { port, sentinels } = address.target.options;
  // Sentinels name the primary, which listens at the usual port unless the values say otherwise.
  return sentinels ? [...sentinels.map((sentinel) => sentinel.port!), 6379] : [port!];
}

describe("the chart's network policy", { concurrency: 2 }, () => {
  it('lets workers and gateways, which publish, reach Kafka at the ports of its brokers', async () => {
    const brokers = { 'kafka.brokers': ['a:9093', 'b:9093', 'c:19092'] };
    const [gateway, worker] = await serverPorts(brokers);
    assert.deepEqual(
      [gateway!.kafka, worker!.kafka],
      [
        [9093, 19092],
        [9093, 19092],
      ],
    );
    const advertised = await serverPorts({ ...brokers, 'networkPolicy.kafka.ports': [9094] });
    assert.deepEqual(
      advertised.map(({ kafka }) => kafka),
      [[9094], [9094]],
    );
  });

  for (const url of [
    'redis://redis',
    'redis://redis:6380/1',
    'rediss://[::1]?db=1',
    'rediss://[::1]:6381',
    'redis+cluster://a:7000,b,c:7000?family=6',
    'redis+sentinel://a,b:26380/main/1',
  ]) {
    it(`lets pods reach Redis at the ports of ${url}`, async () => {
      const expected = [...new Set(portsOfUrl(url))];
      for (const { redis } of await serverPorts({ 'redis.url': url })) assert.deepEqual(redis, expected);
    });
  }

  it('takes the ports of Redis from the values where they are given, as a URL in a Secret requires', async () => {
    for (const { redis } of await serverPorts({}, 'full')) assert.deepEqual(redis, [6379, 6380]);
  });
});
