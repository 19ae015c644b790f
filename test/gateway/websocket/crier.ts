import assert from 'node:assert/strict';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { CONFORMANCE_GRAPH } from './reference.ts';
import type { TargetKind } from './target.ts';
import { testConfig } from '../../support/switches.ts';

const log = createLog('silent');

/** crier itself, embedded, in this process. */
export const crier: TargetKind = {
  name: 'crier',
  deviations: new Map(),
  async start(settings) {
    const config = testConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'silent',
      GRAPH: CONFORMANCE_GRAPH,
      ...settings,
    });
    const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
    return { url: `ws://127.0.0.1:${server.port}/graphql`, close: () => server.close() };
  },
};
