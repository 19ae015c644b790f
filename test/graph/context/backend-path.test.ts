import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assertBackendPath } from '../../../src/graph/context/backend-path.ts';

describe('the path of a backend request', () => {
  it('may be any encoded path with a query', () => {
    for (const path of ['/', '/a/b', '/a?b=c&d=%20', '/a%2Fb', '/a..b/.c', '/v1/@me;x=1', '/a?next=/../b', '/...']) {
      assert.doesNotThrow(() => assertBackendPath(path), path);
    }
  });

  it('cannot leave the base URL', () => {
    for (const path of [
      'a',
      '',
      '//evil.example/a',
      '/../admin',
      '/a/..',
      '/a/../../b',
      '/./a',
      '/%2e%2E/a',
      '/a/.%2e/b',
      '/a/..%2fb',
      '/a%2f..%2fb',
      '/a/..%5cb',
      '/a/..;/b',
      '/\\evil.example',
      '/a b',
      '/a\r\nHost: evil',
      '/a\t',
      '/a#b',
      '/ä',
      'http://evil.example/',
      undefined as unknown as string,
    ]) {
      assert.throws(() => assertBackendPath(path), TypeError, JSON.stringify(path));
    }
  });

  it('stays below the base as URLs are resolved, whatever is accepted', () => {
    const piece = fc.constantFrom('/', '.', '..', '%2e', '%2F', '\\', 'a', '?', '#', '@', ':', ';', ' ', '\t', '%');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/${pieces.join('')}`;
        try {
          assertBackendPath(path);
        } catch {
          return;
        }
        const url = new URL(`http://backend.example/base${path}`);
        assert.equal(url.host, 'backend.example');
        assert.ok(url.pathname.startsWith('/base/'), path);
      }),
      { numRuns: 5000 },
    );
  });
});
