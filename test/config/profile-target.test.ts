import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { parseTarget, writeProfile } from '../../src/config/profile-target.ts';
import { freePorts } from '../../stack/port.ts';
import { backendServer } from '../graph/context/backend-server.ts';
import { NOBODY } from '../support/nobody.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FILE = { name: 'a.cpuprofile', body: Buffer.from('{}') };
const NEVER = new AbortController().signal;

/** A store that answers with a status, and the requests that it received. */
async function startAnswering(t: TestContext, status: number, headers = {}) {
  const requests: { line: string; type: string | undefined; length: string | undefined; body: string }[] = [];
  const url = await backendServer(t, (request: IncomingMessage, response) => {
    const { method, url: path, headers: sent } = request;
    void text(request).then((body) => {
      requests.push({ line: `${method} ${path}`, type: sent['content-type'], length: sent['content-length'], body });
      response.writeHead(status, headers).end('answer');
    });
  });
  return { url, requests };
}

describe('parseTarget', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['ftp://store/profiles', /^its URL does not begin with http:\/\/ or https:\/\/$/],
    ['s3://bucket/profiles', /^its URL does not begin/],
    ['https://', /^its URL does not begin/],
    ['https://user:hunter2@store/profiles', /^its URL has a user name or a password$/],
    ['/does/not/exist', /^"\/does\/not\/exist" does not exist$/],
    [process.execPath, /is not a directory$/],
  ];
  for (const [target, reason] of refused) {
    it(`refuses ${target}`, () => {
      assert.throws(() => parseTarget(target), { name: 'TargetError', message: reason });
    });
  }

  it('refuses a directory that this user may not write to', async (t) => {
    const parent = await temporaryFolder(t);
    await chmod(parent, 0o755);
    const folder = join(parent, 'read-only');
    await mkdir(folder, { mode: 0o555 });
    const isRoot = process.geteuid!() === 0;
    if (isRoot) process.seteuid!(NOBODY);
    try {
      assert.throws(() => parseTarget(folder), { name: 'TargetError', message: /may not be written to by this user$/ });
    } finally {
      if (isRoot) process.seteuid!(0);
    }
  });
});

describe('writeProfile', () => {
  it('writes the file into a directory, and replaces none', async (t) => {
    const folder = await temporaryFolder(t);
    await writeProfile(parseTarget(folder), FILE, NEVER);
    assert.deepEqual(await readdir(folder), ['a.cpuprofile']);
    assert.equal(await readFile(join(folder, 'a.cpuprofile'), 'utf8'), '{}');
    await writeFile(join(folder, 'a.cpuprofile.part'), 'of somebody else');
    await assert.rejects(writeProfile(parseTarget(folder), FILE, NEVER), { code: 'EEXIST' });
  });

  it('sends the file to a URL that is for one object, with its query and its length', async (t) => {
    const { url, requests } = await startAnswering(t, 200);
    await writeProfile(parseTarget(`${url}/bucket/key?X-Amz-Signature=abc%2F`), FILE, NEVER);
    const line = 'PUT /bucket/key?X-Amz-Signature=abc%2F';
    assert.deepEqual(requests, [{ line, type: 'application/json', length: '2', body: '{}' }]);
  });

  it('sends the file to a URL that ends with a slash, under its name', async (t) => {
    const { url, requests } = await startAnswering(t, 201);
    await writeProfile(parseTarget(`${url}/profiles/?token=abc`), FILE, NEVER);
    assert.deepEqual(requests.map(({ line }) => line), ['PUT /profiles/a.cpuprofile?token=abc']); // prettier-ignore
  });

  for (const [status, headers] of [
    [403, {}],
    [500, {}],
    [307, { location: 'http://127.0.0.1:1/elsewhere' }],
  ] as const) {
    it(`fails with status ${status}, without the query in the message`, async (t) => {
      const { url, requests } = await startAnswering(t, status, headers);
      const sent = writeProfile(parseTarget(`${url}/key?signature=hunter2`), FILE, NEVER);
      await assert.rejects(sent, { message: `${new URL(url).host} answered with status ${status}` });
      assert.equal(requests.length, 1);
    });
  }

  it('fails without the query in the message when nothing listens', async () => {
    const [port] = await freePorts(1);
    const sent = writeProfile(parseTarget(`http://127.0.0.1:${port}/key?signature=hunter2`), FILE, NEVER);
    await assert.rejects(sent, { message: `127.0.0.1:${port} was not reached: ECONNREFUSED` });
  });

  it('ends when the signal is aborted and the store has not answered', async (t) => {
    const aborting = new AbortController();
    const url = await backendServer(t, () => aborting.abort());
    await assert.rejects(writeProfile(parseTarget(`${url}/key`), FILE, aborting.signal), /was not reached/);
  });
});
