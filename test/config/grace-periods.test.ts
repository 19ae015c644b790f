import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { longestShutdownMs } from '../support/longest-shutdown.ts';

const MANIFEST = /terminationGracePeriodSeconds: (\d+)/g;

it('every grace period that is written down is longer than the longest shutdown of a pod with the default times', () => {
  const longestMs = longestShutdownMs({ KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis:6379' });
  for (const [path, pattern] of [
    ['docker-compose.yml', /stop_grace_period: (\d+)s/g],
    ['deploy/kubernetes/all.yaml', MANIFEST],
    ['deploy/kubernetes/roles.yaml', MANIFEST],
    ['docs/operate/shutdown.md', /grace period of (\d+) s/g],
    ['CHANGELOG.md', /`terminationGracePeriodSeconds` of (\d+)/g],
  ] as const) {
    const periods = Array.from(readFileSync(path, 'utf8').matchAll(pattern), ([, seconds]) => Number(seconds));
    assert.ok(periods.length > 0, path);
    for (const seconds of periods) assert.ok(seconds * 1000 > longestMs, `${path}: ${seconds} s`);
  }
});
