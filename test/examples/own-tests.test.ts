import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

describe('the tests of the examples', () => {
  for (const example of ['orders', 'chat', 'iot-map']) {
    it(`pass, as the README of ${example} runs them`, async () => {
      // With NODE_TEST_CONTEXT, node:test would take the process for a part of this run, and report nothing.
      const env = { PATH: process.env['PATH'] };
      await promisify(execFile)(process.execPath, ['--test', `examples/${example}/${example}.test.js`], { env });
    });
  }
});
