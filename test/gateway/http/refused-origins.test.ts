import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { originRefusal } from '../../../src/config/addresses/origin.ts';
import { RefusedOrigins } from '../../../src/gateway/http/refused-origins.ts';
import { logLines } from '../../bus/log-lines.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';

function create() {
  const { log, lines } = logLines();
  const refused = new RefusedOrigins(log, ENVIRONMENT_NAMES);
  const origins = { allowed: ['https://app.example'], own: 'https://api.example' };
  const report = (headers: Parameters<typeof originRefusal>[0]) => {
    const refusal = originRefusal(headers, origins);
    assert.ok(refusal, 'it is refused');
    refused.report(refusal, headers);
  };
  return { report, lines };
}

describe('RefusedOrigins', () => {
  it('names the origin, or the host, and the setting that allows it', () => {
    const { report, lines } = create();
    report({ origin: 'https://other.example', host: 'api.example' });
    report({ host: 'internal.example' });
    assert.deepEqual(
      lines.map(({ level, reason, origin, requestHost }) => [level, reason, origin, requestHost]),
      [
        [40, 'origin', 'https://other.example', 'api.example'],
        [40, 'host', undefined, 'internal.example'],
      ],
    );
    for (const { msg } of lines) assert.match(String(msg), /ALLOWED_ORIGINS/);
  });

  it('writes one line for a flood of origins, and 300 characters of each at most', () => {
    const { report, lines } = create();
    for (let i = 0; i < 1000; i++)
      report({ origin: `https://${i}.example/${'x'.repeat(10_000)}`, host: 'api.example' });
    assert.equal(lines.length, 1);
    assert.equal(String(lines[0]!['origin']).length, 300);
  });

  it('says so where a page of another site sends no Origin', () => {
    const { report, lines } = create();
    report({ host: 'api.example', 'sec-fetch-site': 'cross-site' });
    assert.match(String(lines[0]!['msg']), /a page of another site .* ALLOWED_ORIGINS/);
  });
});
