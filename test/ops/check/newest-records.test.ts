import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newestRecords } from '../../../src/ops/check/newest-records.ts';
import { readConfig } from '../../../src/config/config.ts';

describe('newestRecords', () => {
  it('asks no broker once its signal is aborted', async () => {
    // Nobody answers there: a client would ask again and again.
    const config = readConfig({ KAFKA_BROKERS: '127.0.0.1:9', REDIS_URL: 'redis://127.0.0.1:9' });
    await assert.rejects(newestRecords(config, ['bids'], AbortSignal.abort()).next(), { name: 'AbortError' });
  });
});
