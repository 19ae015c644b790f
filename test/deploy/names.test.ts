import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Release } from '../../stack/kubernetes/chart.ts';
import { manifestsOf, ofKind } from './manifests.ts';

/** The longest that Kubernetes takes for a CronJob, whose Jobs' names are longer. */
const MAX_NAME_LENGTH = 52;

interface ServiceMonitor {
  readonly endpoints: readonly [
    { readonly relabelings: readonly { readonly targetLabel: string; readonly replacement?: string }[] },
  ];
}

/** The label `job` of a release's pods. */
async function jobOf(release: Partial<Release>): Promise<string> {
  const values = { ...release.values, 'serviceMonitor.enabled': true };
  const [monitor] = ofKind(await manifestsOf({ ...release, values }), 'ServiceMonitor').values();
  const { endpoints } = monitor!.spec as unknown as ServiceMonitor;
  return endpoints[0].relabelings.find(({ targetLabel }) => targetLabel === 'job')!.replacement!;
}

async function deploymentsOf(release: Partial<Release>): Promise<string[]> {
  return [...ofKind(await manifestsOf(release), 'Deployment').keys()];
}

describe("the names of the chart's objects", { concurrency: 2 }, () => {
  it('are valid for Services, whatever name Helm allows for a release', async () => {
    const services = ofKind(await manifestsOf({ name: 'prices.v2' }), 'Service');
    assert.ok(services.has('prices-v2-crier'));
    const cut = await manifestsOf({ name: 'a-release-that-is-cut-right-here-at--the-36th' });
    assert.ok(ofKind(cut, 'Service').has('a-release-that-is-cut-right-here-at'));
    await assert.rejects(
      manifestsOf({ name: '2prices' }),
      /release 2prices: expected a name that begins with a letter/,
    );
    const values = { fullnameOverride: 'prices' };
    assert.ok(ofKind(await manifestsOf({ name: '2prices', values }), 'Service').has('prices'));
  });

  it('follow nameOverride and fullnameOverride, and fit into what Kubernetes takes', async () => {
    const overrides = [
      [{ nameOverride: 'auctions' }, 'prices-auctions'],
      [{ nameOverride: 'prices' }, 'prices'],
      [{ fullnameOverride: 'bids' }, 'bids'],
      [{ fullnameOverride: 'bids', nameOverride: 'auctions' }, 'bids'],
      [{ fullnameOverride: 'x'.repeat(36) }, 'x'.repeat(36)],
    ] as const;
    for (const [values, name] of overrides) {
      const manifests = await manifestsOf({ name: 'prices', values: { ...values, 'deletionCost.enabled': true } });
      assert.deepEqual([...ofKind(manifests, 'Deployment').keys()], [`${name}-gateway`, `${name}-worker`]);
      for (const { metadata } of manifests) {
        assert.ok(metadata.name.startsWith(name) && metadata.name.length <= MAX_NAME_LENGTH, metadata.name);
      }
    }
    assert.deepEqual(await deploymentsOf({ name: 'prices' }), ['prices-crier-gateway', 'prices-crier-worker']);
  });

  it('give a pod that never answers a job by which CrierPodDown knows it, and each release a job of its own', async () => {
    const [, pattern] = /up\{job=~"([^"]+)"\}/.exec(readFileSync('deploy/monitoring/rules.yaml', 'utf8'))!;
    const releases: Partial<Release>[] = [
      { name: 'prices', namespace: 'production' },
      { name: 'prices', namespace: 'staging' },
      { name: 'prices', namespace: 'staging', values: { nameOverride: 'auctions' } },
      { name: 'prices', namespace: 'staging', values: { fullnameOverride: 'bids' } },
    ];
    const jobs = await Promise.all(releases.map(jobOf));
    for (const job of jobs) assert.match(job, new RegExp(`^(?:${pattern!})$`));
    assert.equal(new Set(jobs).size, releases.length);
  });
});
