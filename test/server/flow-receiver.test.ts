import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import type { Writer } from '../../src/gateway/fanout/outbox/writer.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { createReceiver } from '../../src/server/flow-receiver.ts';
import type { RoleServices } from '../../src/server/services.ts';

describe("a gateway's part in flow control", () => {
  it('is named by POD_NAME, without spaces, and differently after each start', () => {
    const config = readConfig({ KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis', POD_NAME: 'gateway 7' });
    const writer: Pick<Writer, 'fillOf'> = { fillOf: () => 0 };
    const names = [1, 2].map(() => {
      const services = { config, metrics: new Metrics() } as RoleServices;
      return createReceiver(services, writer as Writer, { size: 0 })!.gateway;
    });
    for (const name of names) assert.match(name, /^gateway_7-[0-9a-f]{6}$/);
    assert.notEqual(names[0], names[1]);
  });
});
