import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { announcementOf } from '../../src/config/announcement.ts';
import { readConfig } from '../../src/config/config.ts';

const announced = (environment: Record<string, string>, hasSamples = true) =>
  announcementOf({
    version: '1.2.3',
    config: readConfig(environment),
    graphName: 'orders',
    port: 4000,
    adminPort: 4001,
    hasSamples,
    operation: '{ order }\n',
  });
const bannerOf = (...options: Parameters<typeof announced>) => announced(...options).banner;

describe('the banner', () => {
  for (const [HOST, printed] of [
    ['0.0.0.0', 'localhost'],
    ['::', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
    ['pod-1.local', 'pod-1.local'],
  ] as const) {
    it(`prints addresses that can be opened where HOST is ${HOST}`, () => {
      const text = bannerOf({ HOST, ADMIN_HOST: '127.0.0.2' });
      const urls = (text.match(/\w+:\/\/\S+/g) ?? []).map((url) => URL.canParse(url) && new URL(url).host);
      assert.deepEqual(urls, [`${printed}:4000`, `${printed}:4000`, `${printed}:4000`, '127.0.0.2:4001']);
    });
  }

  it('prints an address for the admin port that can be opened where ADMIN_HOST is a wildcard', () => {
    assert.match(bannerOf({ HOST: '127.0.0.2', ADMIN_HOST: '0.0.0.0' }), /Admin +http:\/\/localhost:4001\//);
  });

  it('names the samples of a graph that has some', () => {
    assert.match(bannerOf({}), /embedded: .+ are not set, the graph’s samples are the records$/m);
    assert.match(bannerOf({}, false), /embedded: .+ are not set$/m);
  });

  it('omits GraphiQL when it is off', () => {
    assert.doesNotMatch(bannerOf({ GRAPHIQL: 'false' }), /GraphiQL/);
  });
});

describe('the line `ready`', () => {
  it('has the graph, the mode and the addresses', () => {
    assert.deepEqual(announced({ GRAPHIQL: 'false', HOST: '127.0.0.2' }).facts, {
      graph: 'orders',
      isEmbedded: true,
      addresses: {
        websocket: 'ws://127.0.0.2:4000/graphql',
        http: 'http://127.0.0.2:4000/graphql',
        admin: 'http://127.0.0.1:4001/',
      },
    });
  });
});
