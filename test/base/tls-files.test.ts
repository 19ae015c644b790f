import assert from 'node:assert/strict';
import fs from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CertificateAuthority } from '../../stack/certificate-files.ts';
import { ConfigError } from '../../src/base/errors.ts';
import { TlsFiles } from '../../src/base/tls-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const SECRET = 'hunter2';

interface Paths {
  readonly authorities?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly passphrase?: string;
}

function filesOf(t: TestContext, { authorities = '', certificate = '', key = '', passphrase = '' }: Paths) {
  const changes: (string | undefined)[] = [];
  const files = new TlsFiles({
    authorities: { setting: 'CA_FILE', path: authorities },
    certificate: { setting: 'CERT_FILE', path: certificate },
    key: { setting: 'KEY_FILE', path: key },
    passphrase: { setting: 'PASSPHRASE', read: () => passphrase },
    onChange: (refusal) => changes.push(refusal),
    pollIntervalMs: 10,
  });
  t.after(() => files.close());
  return { files, changes };
}

async function issued(t: TestContext) {
  const folder = await temporaryFolder(t);
  const authority = await CertificateAuthority.create(folder, 'authority');
  const [one, other] = [await authority.issue('one'), await authority.issue('other', { passphrase: SECRET })];
  const text = join(folder, 'text.pem');
  await writeFile(text, SECRET);
  return { folder, authority: authority.certificate, one, other, text };
}

describe('TlsFiles', () => {
  it('makes a context of authorities, certificate and key', async (t) => {
    const { authority, one } = await issued(t);
    const { files } = filesOf(t, { authorities: authority, ...one });
    assert.equal(files.context, undefined);
    await files.read();
    assert.notEqual(files.context, undefined);
  });

  it('opens an encrypted key with the passphrase', async (t) => {
    const { other } = await issued(t);
    const { files } = filesOf(t, { ...other, passphrase: SECRET });
    await files.read();
    assert.notEqual(files.context, undefined);
  });

  const refused: readonly (readonly [
    what: string,
    paths: (given: Awaited<ReturnType<typeof issued>>) => Paths,
    message: RegExp,
  ])[] = [
    [
      'a missing file',
      () => ({ authorities: '/nowhere.pem' }),
      /^CA_FILE: expected a PEM file of certificates at "\/nowhere.pem", but it does not exist$/,
    ],
    ['text that is no PEM', ({ text }) => ({ authorities: text }), /^CA_FILE: expected .*, but it holds none/],
    [
      'a key for a certificate',
      ({ one }) => ({ certificate: one.key, key: one.key }),
      /^CERT_FILE: expected .*, but it holds none/,
    ],
    [
      'a certificate for a key',
      ({ one }) => ({ ...one, key: one.certificate }),
      /^KEY_FILE: expected .*, but it holds none/,
    ],
    [
      'an encrypted key without a passphrase',
      ({ other }) => other,
      /^KEY_FILE: .*, but it is encrypted: set PASSPHRASE$/,
    ],
    [
      'a wrong passphrase',
      ({ other }) => ({ ...other, passphrase: 'x' }),
      /^KEY_FILE: .*, but PASSPHRASE does not open it$/,
    ],
    [
      'a key of another certificate',
      ({ one, other }) => ({ certificate: other.certificate, key: one.key }),
      /^KEY_FILE: .*one\.key", but it does not belong to the first certificate in CERT_FILE: replace one of the two$/,
    ],
  ];
  for (const [what, pathsOf, message] of refused) {
    it(`refuses ${what}, and shows no content`, async (t) => {
      const { files } = filesOf(t, pathsOf(await issued(t)));
      await assert.rejects(files.read(), (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, new RegExp(`${SECRET}|BEGIN.+\\n`));
        return true;
      });
    });
  }

  it('keeps the last context while certificate and key do not fit, and takes the next pair that does', async (t) => {
    const { folder, one, other } = await issued(t);
    const authority = await CertificateAuthority.create(folder, 'next');
    const next = await authority.issue('next');
    const pair = { certificate: join(folder, 'pair.pem'), key: join(folder, 'pair.key') };
    await copyFile(one.certificate, pair.certificate);
    await copyFile(one.key, pair.key);
    const { files, changes } = filesOf(t, pair);
    await files.read();
    files.watch();
    const first = files.context;
    await copyFile(other.certificate, pair.certificate);
    await waitFor('the refusal', () => changes.some((refusal) => /does not belong/.test(refusal ?? '')));
    assert.equal(files.context, first);
    await copyFile(next.certificate, pair.certificate);
    await copyFile(next.key, pair.key);
    await waitFor('the next pair', () => changes.includes(undefined));
    assert.notEqual(files.context, first);
  });

  it('watches files without reading them on the event loop, where a mount that hangs would stop it', async (t) => {
    const { authority, one } = await issued(t);
    const { files } = filesOf(t, { authorities: authority, ...one });
    await files.read();
    const opened = t.mock.method(fs, 'openSync');
    syncBuiltinESMExports();
    t.after(() => {
      opened.mock.restore();
      syncBuiltinESMExports();
    });
    files.watch();
    await setTimeout(300);
    assert.equal(opened.mock.callCount(), 0);
  });

  it('takes a passphrase that is corrected after its key', async (t) => {
    const { other } = await issued(t);
    let passphrase = 'x';
    const changes: (string | undefined)[] = [];
    const files = new TlsFiles({
      authorities: { setting: 'CA_FILE', path: '' },
      certificate: { setting: 'CERT_FILE', path: other.certificate },
      key: { setting: 'KEY_FILE', path: other.key },
      passphrase: { setting: 'PASSPHRASE', read: () => passphrase },
      onChange: (refusal) => changes.push(refusal),
      pollIntervalMs: 10,
    });
    t.after(() => files.close());
    files.watch();
    await waitFor('the refusal', () => changes.length === 1);
    passphrase = SECRET;
    await waitFor('the passphrase', () => changes.includes(undefined));
    assert.notEqual(files.context, undefined);
  });
});
