import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { variables } from '../../src/config/variables.ts';
import { configRefusal } from '../support/config-refusal.ts';
import { NOBODY } from '../support/nobody.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SECRET = 'hunter2, which has 32 bytes or more';

const SERVERS = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis' };

describe('a secret in a file', () => {
  for (const [content, value] of [
    [`${SECRET}\n`, SECRET],
    [`${SECRET}\r\n`, SECRET],
    [SECRET, SECRET],
    [`${SECRET}\n\n`, `${SECRET}\n`],
    [` ${SECRET} `, ` ${SECRET} `],
    ['x'.repeat(65_536), 'x'.repeat(65_536)],
  ] as const) {
    it(`is read from ${JSON.stringify(content.slice(0, 12))} without one trailing newline`, async (t) => {
      const path = join(await temporaryFolder(t), 'secret');
      await writeFile(path, content);
      assert.equal(readConfig({ JWT_SECRET_FILE: path }).JWT_SECRET, value);
    });
  }

  it('is read through a symbolic link, as Kubernetes mounts secrets', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'url'), 'redis://:hunter2@redis:6379\n');
    await symlink(join(folder, 'url'), join(folder, 'link'));
    const config = readConfig({ KAFKA_BROKERS: 'kafka:9092', REDIS_URL_FILE: join(folder, 'link') });
    assert.equal(config.REDIS_URL, 'redis://:hunter2@redis:6379');
    assert.equal(config.isEmbedded, false);
  });

  it('is possible for exactly the variables that hold passwords and keys', () => {
    const secrets = Object.entries(variables).flatMap(([name, { isSecret }]) => (isSecret ? name : []));
    assert.deepEqual(secrets, [
      'ADMIN_TOKEN',
      'PROFILE_ON_EXIT',
      'KAFKA_TLS_KEY_PASSPHRASE',
      'KAFKA_SASL_USERNAME',
      'KAFKA_SASL_PASSWORD',
      'SCHEMA_REGISTRY_URL',
      'SCHEMA_REGISTRY_HEADERS',
      'REDIS_URL',
      'REDIS_PASSWORD',
      'REDIS_TLS_KEY_PASSPHRASE',
      'JWT_SECRET',
      'JWT_PUBLIC_KEY',
    ]);
  });

  const faults: readonly (readonly [
    what: string,
    prepare: (path: string) => Promise<unknown> | void,
    expected: RegExp,
  ])[] = [
    ['is missing', () => undefined, /does not exist$/],
    ['is a directory', (path) => mkdir(path), /is a directory$/],
    ['is a pipe', (path) => void execFileSync('mkfifo', [path]), /is not a regular file$/],
    ['is empty', (path) => writeFile(path, ''), /is empty$/],
    ['has only a newline', (path) => writeFile(path, '\n'), /is empty$/],
    ['exceeds 64 KiB', (path) => writeFile(path, SECRET.repeat(10_000)), /is larger than 65536 bytes$/],
    ['is not UTF-8', (path) => writeFile(path, Buffer.from(`${SECRET}\xff`, 'latin1')), /is not UTF-8 text$/],
  ];
  for (const [what, prepare, expected] of faults) {
    it(`is refused without its content if the file ${what}`, async (t) => {
      const path = join(await temporaryFolder(t), 'secret');
      await prepare(path);
      const message = configRefusal({ ...SERVERS, KAFKA_SASL_PASSWORD_FILE: path });
      assert.ok(
        message.startsWith(`KAFKA_SASL_PASSWORD_FILE: expected a file that holds KAFKA_SASL_PASSWORD, but "${path}" `),
      );
      assert.match(message, expected);
      assert.doesNotMatch(message, /hunter2/);
    });
  }

  it('is refused if this user may not read the file', async (t) => {
    const folder = await temporaryFolder(t);
    await chmod(folder, 0o755);
    const path = join(folder, 'secret');
    await writeFile(path, SECRET, { mode: 0o000 });
    const isRoot = process.geteuid!() === 0;
    if (isRoot) process.seteuid!(NOBODY);
    try {
      assert.match(configRefusal({ JWT_SECRET_FILE: path }), /^JWT_SECRET_FILE: .* may not be read by this user$/);
    } finally {
      if (isRoot) process.seteuid!(0);
    }
  });

  it('is refused if the variable is set, too', async (t) => {
    const path = join(await temporaryFolder(t), 'secret');
    await writeFile(path, SECRET);
    assert.equal(
      configRefusal({ JWT_SECRET: SECRET, JWT_SECRET_FILE: path }),
      'JWT_SECRET and JWT_SECRET_FILE: expected one of them, got both; unset one',
    );
  });

  it('is not shown if its content cannot be used', async (t) => {
    const path = join(await temporaryFolder(t), 'url');
    await writeFile(path, SECRET);
    const message = configRefusal({ KAFKA_BROKERS: 'kafka:9092', REDIS_URL_FILE: path });
    assert.match(message, /^REDIS_URL: expected redis:\/\/host:6379/);
    assert.doesNotMatch(message, /hunter2/);
  });
});
