import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diagnose, failureOf } from '../../../../src/kafka/client/access/connection-fix.ts';
import { testConfig } from '../../../support/switches.ts';

const config = testConfig({ KAFKA_BROKERS: 'a:9092,b:9092', REDIS_URL: 'redis://127.0.0.1:1' });
/** As kafkajs reports it. */
const answered = (type: string) => Object.assign(new Error(type), { type });

describe('an error with which a broker has answered', () => {
  const cases: readonly (readonly [what: string, error: Error, fix: RegExp])[] = [
    [
      'a missing right',
      new Error('retried in vain', { cause: answered('GROUP_AUTHORIZATION_FAILED') }),
      /^grant Read on the group/,
    ],
    ['a group without a coordinator', answered('GROUP_COORDINATOR_NOT_AVAILABLE'), /__consumer_offsets/],
    ['any other', answered('UNKNOWN'), /^the log of the brokers says why$/],
  ];
  for (const [what, error, fix] of cases) {
    it(`is no lack of a connection, and names its own fix: ${what}`, async () => {
      assert.equal(failureOf(error, config.KAFKA_BROKERS), 'a:9092, b:9092 answered with an error');
      assert.match(await diagnose(error, config), fix);
    });
  }
});
