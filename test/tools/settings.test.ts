import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { removedSettings } from '../../src/config/removed-settings.ts';
import { settingRows, unitOf } from '../../src/config/setting-rows.ts';
import { deploymentSettings, settingGroups, variables } from '../../src/config/variables.ts';
import { findUnknownVariables } from '../../src/config/unknown-variables.ts';
import { settingState } from '../../src/tools/setting-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { crier } from './crier.ts';
import { refusalOf } from './refusal.ts';

interface Shown {
  readonly name: string;
  readonly value?: string;
  readonly source: string;
}

describe('crier settings', () => {
  it('lists every setting once, by task, with its default: first the 20 that a deployment sets', async (t) => {
    const { output } = await crier(t, ['settings']);
    const listed = Array.from(output.matchAll(/^ {2}([A-Z][\w<>]+) +(.*)$/gm), ([, name, text]) => [name!, text!]);
    const names = listed.map(([name]) => name!).filter((name) => name in variables);
    assert.equal(deploymentSettings.length, 20);
    assert.deepEqual(names.slice(0, 20), deploymentSettings);
    assert.deepEqual(names.toSorted(), Object.keys(variables).sort());
    assert.deepEqual([...settingGroups.values()].flat().sort(), names.toSorted());
    assert.deepEqual(
      listed.map(([name]) => name).sort(),
      settingRows()
        .map(({ name }) => name)
        .sort(),
    );
    const byName = new Map(listed as [string, string][]);
    assert.deepEqual(
      ['PORT', 'DRAIN_DELAY_MS', 'MAX_QUEUE_BYTES'].map((name) => byName.get(name)),
      ['4000', 'not set', `${variables.MAX_QUEUE_BYTES.default} bytes`],
    );
  });

  it('lists the value of each setting that is set, and where it is from, but never a secret', async (t) => {
    const settings = {
      PORT: '4999',
      REDIS_URL: 'redis://127.0.0.1:6379',
      JWT_SECRET: 'x'.repeat(32),
      MAX_QUEUE_BYTES: 'many',
      BACKEND_SHOP_URL: 'http://user:pass@shop/',
    };
    const { output } = await crier(t, ['settings'], { settings });
    assert.match(output, /^ {2}setting +default, or the value that is set and where it is from\n\n/);
    const { default: bytes } = variables.MAX_QUEUE_BYTES;
    for (const [name, text] of Object.entries({
      PORT: '4999, from the environment; default: 4000',
      REDIS_URL: '(set), from the environment',
      JWT_SECRET: '(set), from the environment',
      MAX_QUEUE_BYTES: `many, from the environment; it is refused; default: ${bytes} bytes`,
      'BACKEND_<NAME>_URL': 'not set',
      BACKEND_SHOP_URL: '(set), from the environment',
      ADMIN_PORT: '4001',
      PROCESSES: '1 process',
    }))
      assert.ok(output.includes(`\n  ${name.padEnd(36)}  ${text}\n`), `${name}\n${output}`);
    assert.doesNotMatch(output, /x{32}|pass/);
  });

  it('explains one: its text, unit, default, value, source, and whether it is tunable', async (t) => {
    const { output } = await crier(t, ['settings', 'max_queue_bytes'], { settings: { MAX_QUEUE_BYTES: '2048' } });
    assert.match(output, /^MAX_QUEUE_BYTES\n {2}\w.*\n\n {2}expects +a whole number of bytes.*\n {2}unit +bytes\n/);
    assert.ok(output.includes(variables.MAX_QUEUE_BYTES.meaning));
    assert.match(output, /^ {2}default +\d+ bytes\n {2}now +"2048", from the environment\n {2}tunable +yes, by T/m);
    const backend = await crier(t, ['settings', 'BACKEND_SHOP_URL']);
    assert.match(backend.output, /^BACKEND_SHOP_URL\n {2}Base URL of a backend/);
  });

  it('prints JSON: one, or all of them', async (t) => {
    const settings = { PORT: '5000' };
    const one = JSON.parse((await crier(t, ['settings', 'PORT', '--json'], { settings })).output) as object;
    const { default: fallback, unit, meaning, expects } = variables.PORT;
    const facts = { name: 'PORT', default: fallback, unit, meaning, expects, isSecret: false, isTunable: false };
    assert.deepEqual(one, { ...facts, value: '5000', source: 'environment', isRefused: false });
    const all = JSON.parse((await crier(t, ['settings', '--json'], { settings })).output) as Shown[];
    assert.deepEqual(
      all.map(({ name }) => name).sort(),
      settingRows()
        .map(({ name }) => name)
        .sort(),
    );
    assert.equal(all.find(({ name }) => name === 'PORT')!.value, '5000');
  });

  it('proposes the name that is meant', async () => {
    assert.equal(
      (await refusalOf(['settings', 'KAFKA_BROKER'])).message,
      'unknown setting "KAFKA_BROKER"; did you mean "KAFKA_BROKERS"?',
    );
    assert.match((await refusalOf(['settings', 'xyz'])).message, /^unknown setting "xyz"; crier settings lists them$/);
  });

  it('says what became of a setting of a former version, as the start does', async () => {
    for (const name of removedSettings.keys()) {
      const [{ message } = { message: '' }] = findUnknownVariables({ [name]: '1' });
      assert.equal((await refusalOf(['settings', name.toLowerCase()])).message, message);
    }
    assert.match(
      (await refusalOf(['settings', 'SHARING'])).message,
      /^SHARING is no longer a setting: .*DISABLE=sharing/,
    );
  });
});

describe('the state of a setting', () => {
  it('says where its value is from', () => {
    const environment = { PORT: '5000', HOST: '127.0.0.1', ROLE: '' };
    assert.deepEqual(settingState('PORT', environment, ['PORT']), { value: '5000', source: '.env', isRefused: false });
    assert.equal(settingState('HOST', environment, ['PORT']).source, 'environment');
    assert.deepEqual(settingState('ROLE', environment, []), { value: 'all', source: 'default', isRefused: false });
    assert.equal(settingState('PORT', { PORT: 'abc' }, []).isRefused, true);
    assert.deepEqual(settingState('POD_NAME', {}, []), { value: '', source: 'default', isRefused: false });
  });

  it('never has the value of a secret', () => {
    assert.deepEqual(settingState('JWT_SECRET', { JWT_SECRET: 'x'.repeat(32) }, []), {
      value: undefined,
      source: 'environment',
      isRefused: false,
    });
    const file = settingState('JWT_SECRET', { JWT_SECRET_FILE: '/run/secrets/jwt' }, []);
    assert.deepEqual([file.value, file.source], [undefined, '/run/secrets/jwt']);
    assert.equal(settingState('JWT_SECRET', {}, []).value, '');
  });

  it('never has a URL with a password, of whatever setting', () => {
    const url = 'http://user:secret@host/';
    for (const name of ['BACKEND_SHOP_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'JWT_JWKS_URL'])
      assert.equal(settingState(name, { [name]: url }, []).value, undefined, name);
  });

  it('is that of TUNABLES_FILE, if the setting is tunable and the file has it', async (t) => {
    const path = join(await temporaryFolder(t), 'tunables.json');
    await writeFile(path, '{ "LOG_LEVEL": "debug", "PORT": 5 }');
    const environment = { TUNABLES_FILE: path, LOG_LEVEL: 'warn' };
    assert.deepEqual(settingState('LOG_LEVEL', environment, []), { value: 'debug', source: path, isRefused: false });
    assert.equal(settingState('PORT', environment, []).source, 'default');
    const missing = { ...environment, TUNABLES_FILE: '/nowhere' };
    assert.equal(settingState('LOG_LEVEL', missing, []).value, 'warn');
  });
});

it('writes the unit of one in the singular, and none beside a word', () => {
  for (const [value, unit, expected] of [
    ['1', 'processes', 'process'],
    ['1', 'requests/s', 'request/s'],
    ['1', 'bytes', 'byte'],
    ['1', 'ms', 'ms'],
    ['1', '%', '%'],
    ['2', 'processes', 'processes'],
    ['auto', 'processes', ''],
  ] as const)
    assert.equal(unitOf(value, unit), expected);
});
