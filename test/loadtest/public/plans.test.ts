import assert from 'node:assert/strict';
import { it } from 'node:test';
import { avalanchePlans } from '../../../loadtest/public/plans.ts';
import { deployOf } from '../../../loadtest/public/report.ts';

it('an avalanche runs with each spread, delays and kind of client, and names them in its results', () => {
  const plans = avalanchePlans({
    clients: 10,
    kinds: ['stock', 'raw'],
    delays: ['stock', 'tuned'],
    spreads: [0, 20_000],
  });
  const deploys = plans.map((plan) => deployOf({ ...plan, deployed: 'gateway' }));
  assert.deepEqual(deploys, [
    'crier, gateway, 0 s, stock',
    'crier, gateway, 0 s, raw',
    'crier, gateway, 0 s, stock, tuned delays',
    'crier, gateway, 0 s, raw, tuned delays',
    'crier, gateway, 20 s, stock',
    'crier, gateway, 20 s, raw',
    'crier, gateway, 20 s, stock, tuned delays',
    'crier, gateway, 20 s, raw, tuned delays',
  ]);
});
