import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { parse } from 'yaml';
import { deploymentSettings, settingGroups, variables } from '../../src/config/variables.ts';
import { help } from '../../src/tools/help.ts';

it('says in its first line what the package and the chart say: all transports', async () => {
  const [first] = help().split('\n');
  const description = 'GraphQL subscriptions from Kafka topics, over WebSockets, SSE and multipart';
  assert.equal(first, `crier: ${description}.`);
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { description: string };
  assert.equal(manifest.description, description);
  const chart = parse(await readFile('deploy/helm/crier/Chart.yaml', 'utf8')) as { description: string };
  assert.equal(chart.description, description);
});

it('lists every setting once, first the 20 that a deployment sets', () => {
  const listed = Array.from(help().matchAll(/^ {2}([A-Z][A-Z_]+) /gm), ([, name]) => name!);
  const settings = listed.filter((name) => name in variables);
  assert.equal(deploymentSettings.length, 20);
  assert.deepEqual(settings.slice(0, 20), deploymentSettings);
  assert.deepEqual(settings.toSorted(), Object.keys(variables).sort());
  assert.deepEqual([...settingGroups.values()].flat().sort(), settings.toSorted());
});
