import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { Terminal } from '../support/terminal.ts';

const CRIER = `${process.execPath} ${resolve('dist/src/main.js')}`;
const PORTS = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' };
const SCHEMA = 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }\n';

describe('on a terminal', { concurrency: 2 }, () => {
  it('the start says what it does, the log is text, and a banner has the addresses', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const terminal = new Terminal(t, `${CRIER} start ${folder}`, PORTS);
    await terminal.until(/Admin +http/);
    const [first] = terminal.shown.split('\n');
    assert.match(first!, /^\d\d:\d\d:\d\d info {2}crier \S+ starts graph=\S+$/);
    assert.match(terminal.shown, /^\d\d:\d\d:\d\d warn {2}no event will come: .*$/m);
    assert.match(terminal.shown, /^crier \S+ is up: graph .*\n\n {2}GraphiQL +http/m);
    assert.doesNotMatch(terminal.shown, /"level"|"msg"/);
  });

  it('LOG_FORMAT=json keeps the lines and the banner away from it', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const terminal = new Terminal(t, `${CRIER} start ${folder}`, { ...PORTS, LOG_FORMAT: 'json' });
    await terminal.until(/"msg":"ready"/);
    for (const line of terminal.shown.trimEnd().split('\n')) assert.ok('msg' in (JSON.parse(line) as object), line);
  });

  it('a command that reads it says so, and how the input ends', async (t) => {
    const folder = await graphFolder(t, {});
    const terminal = new Terminal(t, `${CRIER} init ${join(folder, 'new')} --sample -`, PORTS);
    await terminal.until(/^reading sample records from this terminal; Ctrl-D ends them$/m);
  });

  it('a graph with a mistake shows the place', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA.replace('"orders"', '"orders" x') });
    const terminal = new Terminal(t, `${CRIER} start ${folder}`, PORTS);
    assert.equal(await terminal.ended, 1);
    assert.match(
      terminal.shown,
      /^crier: schema\.graphql:2:\d+: .*\n\n1 \| type Order \{ id: ID \}\n2 \| type .*\n {2}\| +\^$/m,
    );
    assert.equal(terminal.shown.match(/\^$/gm)?.length, 1, 'the place is shown once');
  });

  it('a failure of crier check is where colours are', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const terminal = new Terminal(t, `${CRIER} check ${folder}`, { ...PORTS, TERM: 'xterm', PORT: 'abc' });
    assert.equal(await terminal.ended, 1);
    assert.match(terminal.shown, /^\u001b\[31mfailed {2}\u001b\[39m PORT: /m);
  });
});

describe('the file .env', { concurrency: 2 }, () => {
  it('gives the settings that the environment does not have', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const lines = [
      'PORT=1',
      'POD_NAME="of the file"',
      'GREETING=no setting',
      'BACKEND_SHOP_URL=http://127.0.0.1:1',
      '',
    ];
    await writeFile(join(folder, '.env'), lines.join('\n'));
    const settings = { ...PORTS, LOG_FORMAT: 'json' };
    const terminal = new Terminal(t, `${CRIER} start .`, settings, folder);
    await terminal.until(/"msg":"ready"/);
    const first = JSON.parse(terminal.shown.split('\n')[0]!) as Record<string, unknown>;
    assert.deepEqual(
      [first['msg'], first['settings'], first['pod']],
      ['settings were read from .env', 2, 'of the file'],
    );
    assert.doesNotMatch(terminal.shown, /GREETING/);
  });

  it('is named by a refusal', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, '.env': 'PORT=abc\nHOST=127.0.0.1\n' });
    const terminal = new Terminal(t, `${CRIER} start .`, { ADMIN_PORT: '0' }, folder);
    assert.equal(await terminal.ended, 1);
    assert.match(terminal.shown, /^crier: PORT: expected a port, .*, got "abc"\nfrom \.env: HOST, PORT\n$/);
  });

  it('is noted by a command', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, '.env': 'LOG_LEVEL=warn\n' });
    const terminal = new Terminal(t, `${CRIER} check .`, {}, folder);
    assert.equal(await terminal.ended, 0);
    assert.match(terminal.shown, /^\.env: 1 setting was read\n/);
  });

  it('that cannot be read ends the command', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    await symlink('.env', join(folder, '.env'));
    const terminal = new Terminal(t, `${CRIER} check .`, {}, folder);
    assert.equal(await terminal.ended, 1);
    assert.match(terminal.shown, /^crier: \.env: expected a file with lines such as PORT=5000, or none, but/);
  });

  it('is none if it is a directory, such as that of Python', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, '.env/a': '' });
    const terminal = new Terminal(t, `${CRIER} check .`, {}, folder);
    assert.equal(await terminal.ended, 0);
    assert.doesNotMatch(terminal.shown, /\.env/);
  });
});
