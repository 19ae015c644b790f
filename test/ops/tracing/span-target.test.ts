import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../../src/config/config.ts';
import { collectorOf, exportersOf } from '../../../src/ops/tracing/span-target.ts';
import { configRefusal } from '../../support/config-refusal.ts';

describe('the OTLP collector', () => {
  const cases: readonly (readonly [
    what: string,
    settings: Readonly<Record<string, string>>,
    url: string | undefined,
  ])[] = [
    ['is none by default', {}, undefined],
    [
      'has /v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a/' },
      'http://a/v1/traces',
    ],
    [
      'is OTEL_EXPORTER_OTLP_TRACES_ENDPOINT as it is',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/x' },
      'http://b/x',
    ],
    [
      'is OTEL_EXPORTER_OTLP_TRACES_ENDPOINT where both are set',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/v1/traces' },
      'http://b/v1/traces',
    ],
  ];
  for (const [what, settings, url] of cases) {
    it(what, () => {
      const config = readConfig(settings);
      assert.equal(collectorOf(config), url);
      assert.deepEqual(exportersOf(config), url === undefined ? [] : ['otlp']);
      assert.deepEqual(config.unknownVariables, []);
    });
  }

  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
    it(`cannot be asked at another host because of a secret that is not percent-encoded in ${name}`, () => {
      for (const value of ['https://user:8/sEcReT@collector', 'https://user:sEc%ReT@collector', 'collector:4318']) {
        const message = configRefusal({ [name]: value });
        assert.match(message, new RegExp(`^${name}: expected an http:// or https:// URL`));
        assert.doesNotMatch(message, /sEc|ReT/);
      }
    });
  }
});
