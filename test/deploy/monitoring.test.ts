import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { dashboard } from '../../scripts/dashboard.ts';
import { createLog } from '../../src/base/log.ts';
import { clientFiles } from '../../src/gateway/connections/open-files.ts';
import { startServer } from '../../src/server.ts';
import { createTopics } from '../../stack/topics.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { kafkaBrokers, randomName, redisServer } from '../support/services.ts';
import { testConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';
import { Prometheus } from './prometheus.ts';
import { unknownNames } from './promql.ts';

const FOLDER = 'deploy/monitoring';
const RULES = `${FOLDER}/rules.yaml`;
/** As a ServiceMonitor adds them. */
const POD_LABELS = { namespace: 'shop', pod: 'crier-gateway-0' };

const run = promisify(execFile);
const read = (path: string) => readFileSync(path, 'utf8');
const alerts = () => Array.from(read(RULES).matchAll(/- alert: (\w+)/g), ([, name]) => name!);

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

/** The dashboard as Grafana sends its expressions with all jobs and pods selected. */
function readDashboard(): { readonly expressions: readonly string[]; readonly variables: ReadonlyMap<string, string> } {
  const selected = read(`${FOLDER}/dashboard.json`)
    .replace(/\$(job|instance)/g, '.*')
    .replaceAll('$__rate_interval', '1m');
  const { panels, templating } = JSON.parse(selected) as Dashboard;
  return {
    expressions: panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    variables: new Map(templating.list.map(({ name, query }) => [name, query])),
  };
}

interface AdapterRule {
  readonly seriesQuery: string;
  readonly resources: { readonly overrides: Readonly<Record<string, { readonly resource: string }>> };
  readonly name: { readonly matches: string; readonly as: string };
  readonly metricsQuery: string;
}

/** A metric of prom-client, or crier's histogram. What exposition.ts makes of them has no `labelNames`. */
interface Registered {
  readonly name: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}

/** A server of role all that a Prometheus scrapes as a pod, and the label names of the metrics that it exposes, with a series or without. */
async function scrapedPod(t: TestContext) {
  const [brokers, redis] = await Promise.all([kafkaBrokers(t), redisServer(t)]);
  const name = randomName();
  await createTopics(brokers, [{ topic: name, numPartitions: 1 }]);
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GRAPH: await graphFolder(t, {
      'schema.graphql': `type Tick { id: ID! } type Subscription { tick: Tick @kafka(topic: "${name}") }`,
    }),
    KAFKA_BROKERS: brokers,
    REDIS_URL: redis.url,
    KAFKA_GROUP_ID: name,
    CHANNEL_PREFIX: `${name}:`,
    COMPRESSION: 'on',
  });
  const { mock } = t.mock.method(Registry.prototype, 'registerMetric');
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const target = `127.0.0.1:${server.adminPort}`;
  const prometheus = await Prometheus.start(t, target, POD_LABELS, resolve(RULES));
  await waitFor('a scrape of the pod', async () => (await prometheus.query('crier_build_info')).length > 0, 30_000);

  const families = await prometheus.families();
  // The last three are of gateways without a worker in their process, and of pods of several processes.
  const labelNames = new Map<string, readonly string[]>([
    ['up', []],
    ['crier_gateway_without_workers', []],
    ['crier_process_up', ['process']],
    ['crier_process_ends_total', ['process']],
  ]);
  for (const call of mock.calls) {
    const { name, type, labelNames: own } = call.arguments[0] as unknown as Registered;
    // OpenMetrics has the family crier_events of the counter crier_events_total.
    const family = type === 'counter' ? name.replace(/_total$/, '') : name;
    if (!own || !(families.has(name) || families.has(family))) continue;
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) labelNames.set(name + suffix, own);
  }
  return { prometheus, labelNames, target };
}

describe('the dashboard', () => {
  it('is what its source writes', () => {
    assert.equal(read(`${FOLDER}/dashboard.json`), dashboard(), 'run npm run deploy:dashboard');
  });
});

describe('the rules', () => {
  it('fire for open files before clients are refused for want of them', () => {
    const [, share] = /process_open_fds \/ process_max_fds > ([\d.]+)/.exec(read(RULES))!;
    for (const files of [1024, 4096, 65_536, 2 ** 20])
      assert.ok(clientFiles(0, files).connections / files > Number(share));
  });

  it('pass their tests', async () => {
    await run('promtool', ['check', 'rules', RULES]);
    await run('promtool', ['test', 'rules', `${FOLDER}/rules.test.yaml`]);
  });

  it('have a test and a part of the runbook for each alert', () => {
    const tests = read(`${FOLDER}/rules.test.yaml`);
    const runbook = read('docs/operate/runbook.md');
    for (const name of alerts()) {
      assert.match(runbook, new RegExp(`^### ${name}$`, 'm'));
      assert.ok(read(RULES).includes(`runbook: docs/operate/runbook.md#${name.toLowerCase()}`), name);
      assert.match(tests, new RegExp(`alertname: ${name}\\s+exp_alerts`));
    }
    const atOnce = tests.slice(tests.indexOf('in which everything fails'));
    const firing = Array.from(atOnce.split('eval_time: ')[1]!.matchAll(/alertname="(\w+)"/g), ([, name]) => name!);
    assert.deepEqual(firing, alerts());
    const parts = Array.from(runbook.matchAll(/^### (\w+)$/gm), ([, name]) => name!);
    assert.deepEqual(parts, alerts());
  });
});

describe('a Prometheus that scrapes a pod', { timeout: 180_000 }, () => {
  it('answers the dashboard, the rules and the autoscaler', async (t) => {
    const { prometheus, labelNames, target } = await scrapedPod(t);
    const { expressions: panels, variables } = readDashboard();
    const rules = await prometheus.rules();
    const expressions = [...panels, ...rules.map(({ query }) => query)];
    const recorded = rules.filter(({ type }) => type === 'recording');
    const known = new Map([...labelNames, ...recorded.map(({ name }) => [name, []] as const)]);

    await t.test('has each metric and label that a panel or a rule names, and evaluates each expression', async () => {
      assert.deepEqual([...new Set(expressions.flatMap((expr) => unknownNames(expr, known)))], []);
      for (const expr of expressions) await prometheus.query(expr);
    });

    await t.test('has no other label, and no removed metric', () => {
      const expr = 'sum by (space) (crier_kafka_lag_records{field="a"}) / nodejs_active_handles_total';
      assert.deepEqual(unknownNames(expr, known), [
        'no label field of crier_kafka_lag_records',
        'no label space of crier_kafka_lag_records',
        'no metric nodejs_active_handles_total',
      ]);
    });

    await t.test('lists the jobs and the pods for the variables of the dashboard', async () => {
      const valuesOf = (variable: string) => {
        const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(variables.get(variable)!)!;
        return prometheus.labelValues(selector!, label!);
      };
      assert.deepEqual(await valuesOf('job'), ['crier']);
      assert.deepEqual(await valuesOf('instance'), [target]);
    });

    await t.test('gives one value of the pod for each metric of the autoscaler', async () => {
      const { rules } = parse(read('deploy/helm/prometheus-adapter.yaml')) as { rules: { custom: AdapterRule[] } };
      const found = new Map<string, Record<string, string>[]>();
      for (const { seriesQuery, metricsQuery, name, resources } of rules.custom) {
        const labelOf = (wanted: string) =>
          Object.entries(resources.overrides).find(([, { resource }]) => resource === wanted)![0];
        const matchers = `${labelOf('namespace')}="${POD_LABELS.namespace}",${labelOf('pod')}=~"${POD_LABELS.pod}"`;
        for (const { metric } of await prometheus.query(seriesQuery)) {
          const series = metric['__name__']!;
          const query = metricsQuery
            .replaceAll('<<.Series>>', series)
            .replaceAll('<<.LabelMatchers>>', matchers)
            .replaceAll('<<.GroupBy>>', labelOf('pod'));
          const samples = await prometheus.query(query);
          found.set(
            series.replace(new RegExp(name.matches), name.as),
            samples.map(({ metric: labels }) => labels),
          );
        }
      }
      const autoscaler = read('deploy/helm/crier/templates/autoscaler.yaml');
      const wanted = Array.from(autoscaler.matchAll(/metric: \{ name: (\w+) \}/g), ([, metric]) => metric!);
      assert.deepEqual([...found.keys()].sort(), wanted.sort());
      for (const samples of found.values()) assert.deepEqual(samples, [{ pod: POD_LABELS.pod }]);
    });
  });
});
