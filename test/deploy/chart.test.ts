import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { RENDERED, manifestOf, manifestPath } from '../../scripts/render-manifests.ts';
import { readConfig } from '../../src/config/config.ts';
import { settingRows } from '../../src/config/setting-rows.ts';
import { createAuthority, encryptKey, issue } from '../../stack/certificates.ts';
import { lintChart } from '../../stack/kubernetes/chart.ts';
import { longestShutdownMs } from '../support/longest-shutdown.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { EXAMPLES, environmentOf, manifestsOf, ofKind } from './manifests.ts';

describe('the Helm chart', { concurrency: 2 }, () => {
  for (const example of EXAMPLES) {
    it(`has no finding of helm lint with examples/${example}.yaml`, async () => {
      await lintChart({ name: 'crier', namespace: 'crier', example });
    });
  }

  it('runs gateways and workers apart, or pods of both roles', async () => {
    const rolesOf = async (example: string) => {
      const deployments = ofKind(await manifestsOf({ example }), 'Deployment');
      return [...deployments].map(([name, deployment]) => [name, environmentOf(deployment)['ROLE']]);
    };
    assert.deepEqual(await rolesOf('roles'), [
      ['crier-gateway', 'gateway'],
      ['crier-worker', 'worker'],
    ]);
    assert.deepEqual(await rolesOf('all'), [['crier-all', 'all']]);
  });

  it('scales the pods with sockets only, and leaves their number to the autoscaler', async () => {
    const manifests = await manifestsOf({});
    const [autoscaler, ...others] = ofKind(manifests, 'HorizontalPodAutoscaler').values();
    assert.deepEqual(others, []);
    assert.equal((autoscaler!.spec['scaleTargetRef'] as { name: string }).name, 'crier-gateway');
    const deployments = ofKind(manifests, 'Deployment');
    assert.equal(deployments.get('crier-gateway')!.spec['replicas'], undefined);
    assert.equal(deployments.get('crier-worker')!.spec['replicas'], 2);
  });

  it('asks for sockets and queued bytes beside CPU when a metrics adapter is there', async () => {
    const metricsOf = async (customMetrics: boolean) => {
      const manifests = await manifestsOf({ values: { 'gateway.autoscaling.customMetrics': customMetrics } });
      const { metrics } = ofKind(manifests, 'HorizontalPodAutoscaler').get('crier-gateway')!.spec as unknown as {
        metrics: { pods?: { metric: { name: string } }; resource?: { name: string } }[];
      };
      return metrics.map(({ pods, resource }) => pods?.metric.name ?? resource?.name);
    };
    assert.deepEqual(await metricsOf(true), ['crier_connections', 'crier_queue_bytes', 'cpu']);
    assert.deepEqual(await metricsOf(false), ['cpu']);
  });

  it('probes start, life and readiness at the paths that tell them', async () => {
    for (const { spec } of ofKind(await manifestsOf({}), 'Deployment').values()) {
      const [{ startupProbe, livenessProbe, readinessProbe }] = spec.template.spec.containers;
      const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
      assert.deepEqual(paths, ['/startupz', '/healthz', '/readyz']);
    }
  });

  it('takes no pod out of its Service for one slow answer, and none before overload has lasted for longer than that', async () => {
    for (const { spec } of ofKind(await manifestsOf({}), 'Deployment').values()) {
      const [{ readinessProbe, livenessProbe }] = spec.template.spec.containers;
      const { failureThreshold, periodSeconds, successThreshold = 1 } = readinessProbe;
      assert.ok(failureThreshold >= 2);
      // Meanwhile the pod itself refuses new sockets.
      assert.ok(failureThreshold * periodSeconds <= 10);
      assert.equal(successThreshold, 1);
      assert.ok(livenessProbe.failureThreshold * livenessProbe.periodSeconds >= 30);
    }
  });

  it('adds pods before a gateway has more than the share of a core for which docs/operate/kubernetes.md sizes it', async () => {
    const manifests = await manifestsOf({});
    const [autoscaler] = ofKind(manifests, 'HorizontalPodAutoscaler').values();
    const { metrics } = autoscaler!.spec as unknown as {
      metrics: { resource?: { target: { averageUtilization: number } } }[];
    };
    const { averageUtilization } = metrics.find(({ resource }) => resource)!.resource!.target;
    const [{ resources }] = ofKind(manifests, 'Deployment').get('crier-gateway')!.spec.template.spec.containers;
    const millicores = Number(/^(\d+)m$/.exec(resources.requests.cpu)![1]);
    const [, percent] = /at most (\d+) % of a core/.exec(await readFile('docs/operate/kubernetes.md', 'utf8'))!;
    assert.equal((millicores / 1000) * averageUtilization, Number(percent));
    // On a full node a pod has its request: a target above it would never be reached.
    assert.ok(averageUtilization < 100);
  });

  it('does not make crier process 1, on which the SIGKILL of the watchdog has no effect', async () => {
    for (const example of EXAMPLES) {
      for (const { spec } of ofKind(await manifestsOf({ example }), 'Deployment').values()) {
        assert.equal(spec.template.spec.shareProcessNamespace, true, example);
      }
    }
  });

  it('gives a pod the time of its longest shutdown and of preStop, and no more than four seconds on top', async () => {
    for (const [drain, preStopMs] of [
      [{}, 0],
      [{ delayMs: 0, spreadMs: 0 }, 0],
      [{ delayMs: 1, spreadMs: 60_000, preStopSleepSeconds: 7 }, 7000],
    ] as const) {
      const deployments = ofKind(await manifestsOf({ values: { drain } }), 'Deployment');
      const { spec } = deployments.get('crier-gateway')!;
      const { terminationGracePeriodSeconds: seconds } = spec.template.spec;
      const margin = seconds * 1000 - preStopMs - longestShutdownMs(environmentOf(deployments.get('crier-gateway')!));
      assert.ok(margin > 0 && margin <= 4000, `${seconds} s with ${JSON.stringify(drain)}`);
      assert.equal(deployments.get('crier-worker')!.spec.template.spec.terminationGracePeriodSeconds, seconds);
    }
  });

  it('keeps releases apart on one Kafka and one Redis, also those of one name in two namespaces', async () => {
    const releases = [
      { name: 'prices', namespace: 'production' },
      { name: 'prices', namespace: 'staging' },
      { name: 'orders', namespace: 'staging' },
    ];
    const shared = ['KAFKA_GROUP_ID', 'CHANNEL_PREFIX', 'KAFKA_DEAD_LETTER_TOPIC'] as const;
    const seen = new Set<string>();
    for (const release of releases) {
      const deployments = [...ofKind(await manifestsOf(release), 'Deployment').values()];
      const values = deployments.map((one) => shared.map((name) => environmentOf(one)[name]!));
      assert.deepEqual(values[0], values[1]);
      for (const value of values[0]!) seen.add(value);
      for (const { metadata } of deployments) assert.equal(metadata.namespace, release.namespace);
    }
    assert.equal(seen.size, releases.length * shared.length);
    assert.ok(seen.has('staging.orders-crier') && seen.has('production.prices-crier:'));
  });

  it('sets only variables that crier reads', async () => {
    const known = new Set(settingRows().map(({ name }) => name));
    known.add('BACKEND_SELLER_URL');
    for (const example of EXAMPLES) {
      for (const deployment of ofKind(await manifestsOf({ example }), 'Deployment').values()) {
        for (const name of Object.keys(environmentOf(deployment))) assert.ok(known.has(name), `${example}: ${name}`);
      }
    }
  });

  it('writes numbers and booleans of settings as text', async () => {
    const values = { settings: { MAX_POD_QUEUE_BYTES: 12_345_678_901, SHARING_AUDIT: 0.01, INTROSPECTION: false } };
    const environment = environmentOf(ofKind(await manifestsOf({ values }), 'Deployment').get('crier-gateway')!);
    const expected = { MAX_POD_QUEUE_BYTES: '12345678901', SHARING_AUDIT: '0.01', INTROSPECTION: 'false' };
    assert.deepEqual({ ...environment, ...expected }, environment);
  });

  it('replaces the pods when the graph changes, and not when a tunable does', async () => {
    const templateOf = async (values: Record<string, unknown>) => {
      const deployment = ofKind(await manifestsOf({ values }), 'Deployment').get('crier-gateway')!;
      return JSON.stringify(deployment.spec.template);
    };
    const graph = (text: string) => ({ 'graph.files': { 'schema.graphql': text } });
    assert.notEqual(await templateOf(graph('type A { a: Int }')), await templateOf(graph('type A { b: Int }')));
    const tunables = (level: string) => ({ tunables: { LOG_LEVEL: level } });
    assert.equal(await templateOf(tunables('info')), await templateOf(tunables('debug')));
  });

  it('mounts secrets as files, so that no manifest and no environment has their text', async () => {
    const manifests = await manifestsOf({ example: 'full' });
    const deployment = ofKind(manifests, 'Deployment').get('crier-gateway')!;
    const secrets = Object.entries(environmentOf(deployment)).filter(([name]) => name.endsWith('_FILE'));
    const [{ volumeMounts }] = deployment.spec.template.spec.containers;
    const folder = volumeMounts.find(({ name }) => name === 'secrets')!.mountPath;
    for (const name of ['REDIS_URL', 'ADMIN_TOKEN', 'KAFKA_SASL_PASSWORD']) {
      assert.deepEqual(
        secrets.find(([variable]) => variable === `${name}_FILE`),
        [`${name}_FILE`, `${folder}/${name}`],
      );
      assert.equal(environmentOf(deployment)[name], undefined);
    }
  });

  it('connects to Kafka with an authority, a client certificate and a user of Secrets', async (scope) => {
    const folder = await temporaryFolder(scope);
    const authority = await createAuthority();
    const client = await issue(authority, ['crier']);
    const contents = {
      KAFKA_TLS_CA: authority.certificate,
      KAFKA_TLS_CERT: client.certificate,
      KAFKA_TLS_KEY: encryptKey(client, 'hunter2'),
      KAFKA_TLS_KEY_PASSPHRASE: 'hunter2',
      KAFKA_SASL_USERNAME: 'crier',
      KAFKA_SASL_PASSWORD: 'password',
    };
    for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, name), content);
    const secrets = Object.fromEntries(Object.keys(contents).map((name) => [name, { name: 'kafka', key: name }]));
    const values = { secrets, 'kafka.tls': true, 'kafka.saslMechanism': 'scram-sha-512' };
    for (const deployment of ofKind(await manifestsOf({ values }), 'Deployment').values()) {
      const config = readConfig(inFolder(folder, environmentOf(deployment)));
      const { KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key } = config;
      assert.deepEqual(
        [ca, cert, key],
        ['CA', 'CERT', 'KEY'].map((file) => join(folder, `KAFKA_TLS_${file}`)),
      );
      const { KAFKA_SASL_USERNAME: user, KAFKA_SASL_PASSWORD: password } = config;
      assert.deepEqual([user, password], ['crier', 'password']);
    }
  });

  it("connects to Kafka with the tokens of a module of the team's", async (scope) => {
    const module = join(await temporaryFolder(scope), 'token.mjs');
    await writeFile(module, 'export default () => ({ value: "token" });');
    const values = { 'kafka.tls': true, 'kafka.saslMechanism': 'oauthbearer', 'kafka.saslTokenProvider': module };
    for (const deployment of ofKind(await manifestsOf({ values }), 'Deployment').values()) {
      const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_TOKEN_PROVIDER: provider } = readConfig(
        environmentOf(deployment),
      );
      assert.deepEqual([mechanism, provider], ['oauthbearer', module]);
    }
  });
});

/** The environment of a container whose Secrets are in this folder. */
function inFolder(folder: string, environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/^\/etc\/crier\/secrets/, folder)]),
  );
}

describe('the values of docs/operate/tokens.md', () => {
  it('are settings that crier accepts, with a mount for the manifest and a way to the identity provider', async () => {
    const [, block] = /### In Kubernetes[^]*?```yaml\n([^]*?)```/.exec(
      await readFile('docs/operate/tokens.md', 'utf8'),
    )!;
    const manifests = await manifestsOf({ values: parse(block!) as Record<string, unknown> });
    const deployment = ofKind(manifests, 'Deployment').get('crier-gateway')!;
    const { ADMIN_TOKEN_FILE: tokenFile, ...environment } = environmentOf(deployment);
    assert.equal(tokenFile, '/etc/crier/secrets/ADMIN_TOKEN');
    const { TRUSTED_DOCUMENTS: manifest } = readConfig(environment);
    const [{ volumeMounts }] = deployment.spec.template.spec.containers;
    assert.ok(volumeMounts.some(({ mountPath }) => mountPath === dirname(manifest)));
    const { egress } = ofKind(manifests, 'NetworkPolicy').get('crier-gateway')!.spec as unknown as {
      egress: { ports: { port: number }[] }[];
    };
    assert.ok(egress.some(({ ports }) => ports.some(({ port }) => port === 443)));
  });
});

describe('deploy/kubernetes', () => {
  for (const example of RENDERED) {
    it(`has what the chart renders now: ${example}.yaml (npm run deploy:manifests)`, async () => {
      assert.equal(await readFile(manifestPath(example), 'utf8'), await manifestOf(example));
    });
  }
});
