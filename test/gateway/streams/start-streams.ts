import assert from 'node:assert/strict';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { metricOf } from '../../support/metric.ts';
import type { Scope } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { CONFORMANCE_GRAPH } from '../websocket/reference.ts';

/** Starts a crier with the conformance graph. */
export async function startStreams(scope: Scope, settings: Readonly<Record<string, string>> = {}) {
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', GRAPH: CONFORMANCE_GRAPH, ...settings });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  scope.after(() => server.close());
  const url = `http://127.0.0.1:${server.port}/graphql`;
  const metric = (name: string) => metricOf(`http://127.0.0.1:${server.adminPort}`, name);
  return { server, url, metric };
}
