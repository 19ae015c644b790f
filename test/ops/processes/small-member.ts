import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { packFamilies } from '../../../src/ops/processes/metric-families.ts';

/** A process of a pod, without anything to serve: it starts within a moment. BEHAVIOUR says what it does at its start. */
const { BEHAVIOUR: behaviour = 'serve' } = process.env;
if (behaviour === 'crash') process.exit(3);

const counter = { name: 'crier_test_total', help: 'A counter.', type: 'counter', values: [{ labels: {}, value: 7 }] };
const gauge = { name: 'crier_test', help: 'A gauge.', type: 'gauge', values: [{ labels: {}, value: 2 }] };
const bodies = new Map<string, string | Buffer>([
  ['/process/metrics', packFamilies([counter, gauge])],
  ['/readyz', '{"status":"ready"}'],
  ['/healthz', '{"status":"alive"}'],
]);

process.on('message', () => process.exit(0));
if (behaviour !== 'wait') process.send!({ isListening: true });
if (behaviour === 'refuse')
  process.send!({ refused: 'GRAPH: no such folder' }, undefined, undefined, () => process.exit(1));
else if (behaviour === 'serve') {
  const server = createServer((request, response) => response.end(bodies.get(request.url ?? '')));
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
    process.send!({ adminPort: (server.address() as AddressInfo).port });
    process.send!({ started: { port: 4000, graphName: 'test', operation: '' } });
  });
}
