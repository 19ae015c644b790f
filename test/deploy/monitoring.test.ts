import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { dashboard } from '../../scripts/dashboard.ts';
import { createTopics } from '../../stack/topics.ts';
import { startPod } from '../end-to-end/pod.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { kafkaBrokers, randomName, redisServer } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { Prometheus } from './prometheus.ts';

const FOLDER = 'deploy/monitoring';
const RULES = `${FOLDER}/rules.yaml`;

const run = promisify(execFile);
const read = (path: string) => readFileSync(path, 'utf8');
const alerts = () => Array.from(read(RULES).matchAll(/- alert: (\w+)/g), ([, name]) => name!);

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

/** The expressions of the dashboard as Grafana sends them with all jobs and pods selected. */
function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(read(`${FOLDER}/dashboard.json`)) as Dashboard;
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replace(/\$(job|instance)/g, '.*').replaceAll('$__rate_interval', '1m'));
}

/** Names of metrics in an expression: recorded ones have colons. */
function metricsOf(expr: string): string[] {
  const withoutLabels = expr.replace(/\{[^}]*\}/g, '').replace(/\b(by|on|without) ?\([^)]*\)/g, '');
  return withoutLabels.match(/\b(crier|nodejs|process)[_:][\w:]+|\bup\b/g) ?? [];
}

/** The name of the family of a sample: `crier_executions` and `crier_executions_total` for `crier_executions_total`, by the format. */
function familiesOf(name: string): string[] {
  return [name, name.replace(/_(total|bucket|sum|count)$/, '')];
}

describe('the dashboard', () => {
  it('is what its source writes', () => {
    assert.equal(read(`${FOLDER}/dashboard.json`), dashboard(), 'run npm run deploy:dashboard');
  });
});

describe('the rules', () => {
  it('pass their tests', async () => {
    await run('promtool', ['check', 'rules', RULES]);
    await run('promtool', ['test', 'rules', `${FOLDER}/rules.test.yaml`]);
  });

  it('have a test and a part of the runbook for each alert', () => {
    const tests = read(`${FOLDER}/rules.test.yaml`);
    const runbook = read('docs/runbook.md');
    for (const name of alerts()) {
      assert.match(runbook, new RegExp(`^### ${name}$`, 'm'));
      assert.ok(read(RULES).includes(`runbook: docs/runbook.md#${name.toLowerCase()}`), name);
      assert.match(tests, new RegExp(`alertname: ${name}\\s+exp_alerts`));
    }
    const parts = Array.from(runbook.matchAll(/^### (\w+)$/gm), ([, name]) => name!);
    assert.deepEqual(parts, alerts());
  });
});

describe('a Prometheus that scrapes a pod', { timeout: 180_000 }, () => {
  it('finds every metric that a panel or a rule names, and evaluates each expression', async (t) => {
    const [brokers, redis] = await Promise.all([kafkaBrokers(t), redisServer(t)]);
    const name = randomName();
    await createTopics(brokers, [{ topic: name, numPartitions: 1 }]);
    const graph = await graphFolder(t, {
      'schema.graphql': `type Tick { id: ID! } type Subscription { tick: Tick @kafka(topic: "${name}") }`,
    });
    const pod = await startPod(t, {
      GRAPH: graph,
      KAFKA_BROKERS: brokers,
      REDIS_URL: redis.url,
      KAFKA_GROUP_ID: name,
      CHANNEL_PREFIX: `${name}:`,
    });
    const prometheus = await Prometheus.start(t, [new URL(pod.admin).host], resolve(RULES));
    await waitFor('a scrape of the pod', async () => (await prometheus.query('crier_build_info')).length > 0, 30_000);

    const rules = await prometheus.rules();
    const recorded = new Set(rules.filter(({ type }) => type === 'recording').map(({ name }) => name));
    const families = await prometheus.families();
    const expressions = [...dashboardExpressions(), ...rules.map(({ query }) => query)];
    const unknown = expressions
      .flatMap(metricsOf)
      .filter((metric) => metric !== 'up' && !recorded.has(metric))
      .filter((metric) => !familiesOf(metric).some((family) => families.has(family)));
    assert.deepEqual([...new Set(unknown)], []);
    for (const expr of expressions) await prometheus.query(expr);
  });
});
