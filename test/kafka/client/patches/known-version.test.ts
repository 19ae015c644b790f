import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SetupError } from '../../../../src/base/errors.ts';
import { requireKnownKafkajs } from '../../../../src/kafka/client/patches/known-version.ts';

it('accepts the installed version of kafkajs', () => {
  assert.doesNotThrow(() => requireKnownKafkajs());
});

it('refuses another version of kafkajs, and names the found version, the known version and the fix', () => {
  assert.throws(
    () => requireKnownKafkajs('2.3.0'),
    (error) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, /^kafkajs 2\.3\.0 is installed/);
      assert.match(error.message, /internals of kafkajs 2\.2\.4/);
      assert.match(error.message, /npm install --save-exact kafkajs@2\.2\.4/);
      return true;
    },
  );
});
