import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { installPrograms, missingPrograms } from '../../stack/programs.ts';
import { fileOfPage } from '../docs/page-files.ts';
import { openPage } from '../support/browser.ts';
import { CLIENTS_PAGE } from './client.ts';
import type { Access, Client, StartClient } from './client.ts';
import { RemoteClient } from './remote-client.ts';
import type { Command, Report } from './remote-client.ts';

const MINI_BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';
const FIXTURE = join('test', 'clients', 'fixtures', 'browser');
const GRAPHQL_WS = join('node_modules', 'graphql-ws', 'dist');
/** Longest time in ms for which a page waits for a command. Each answer brings the cookie with the token. */
const POLL_MS = 200;

/** Opens a page, and returns what closes it. */
type Open = (url: string) => Promise<() => Promise<void>>;

const inChromium: Open = async (url) => {
  const ends: (() => Promise<void>)[] = [];
  const page = await openPage({ after: (end: () => Promise<void>) => void ends.push(end) });
  await page.goto(url);
  return async () => {
    for (const end of ends) await end();
  };
};

const inWebKit: Open = async (url) => {
  const home = await mkdtemp(join(tmpdir(), 'crier-webkit-'));
  const words = ['-a', MINI_BROWSER, '--private', url];
  // A process group of its own: xvfb-run starts the X server and the browser.
  const child = spawn('xvfb-run', words, {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: home },
  });
  const kill = () => process.kill(-child.pid!, 'SIGKILL');
  process.once('exit', kill);
  return async () => {
    process.removeListener('exit', kill);
    const closed = once(child, 'close');
    kill();
    await closed;
    await rm(home, { recursive: true, force: true });
  };
};

/** A page in a browser whose client is graphql-ws, or an EventSource. */
export async function installBrowser(
  browser: 'Chromium' | 'WebKit',
  client: 'graphql-ws' | 'EventSource',
): Promise<StartClient> {
  if (browser === 'WebKit') await installPrograms(await missingPrograms(['WebKitWebDriver', 'xvfb-run']));
  else await installPrograms(await missingPrograms(['chromium']));
  return (url, access) => pageClient(url, access!, client, browser === 'WebKit' ? inWebKit : inChromium);
}

function pageClient(url: string, access: Access, kind: string, open: Open): Client {
  const commands: Command[] = [];
  let onCommand = () => undefined as void;
  const send = (command: Command) => {
    commands.push(command);
    onCommand();
  };
  const client = new RemoteClient(send, async () => {
    await (
      await opened
    )();
    server.closeAllConnections();
    server.close();
  });
  const token = () => readFileSync(access.tokenFile, 'utf8');
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('set-cookie', `token=${token()}; path=/`);
    if (request.url === '/commands') {
      if (commands.length === 0)
        await new Promise<void>((resolve) => {
          onCommand = resolve;
          setTimeout(resolve, POLL_MS);
        });
      response.end(JSON.stringify(commands.splice(0)));
    } else if (request.url === '/reports') {
      client.keep((await json(request)) as Report);
      response.end();
    } else if (request.url === '/token') response.end(token());
    else if (request.url === '/resume.js')
      response.setHeader('content-type', 'text/javascript').end(fileOfPage(CLIENTS_PAGE, 'resume.js'));
    else if (request.url!.startsWith('/graphql-ws/')) {
      const text = await readFile(join(GRAPHQL_WS, request.url!.slice('/graphql-ws/'.length)));
      response.setHeader('content-type', 'text/javascript').end(text);
    } else {
      const page = await readFile(join(FIXTURE, 'page.html'), 'utf8');
      const options = JSON.stringify({ url, kind });
      response.setHeader('content-type', 'text/html').end(page.replace('OPTIONS', options));
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => void response.writeHead(404).end());
  }).listen(access.pagePort, '127.0.0.1');
  const opened = once(server, 'listening').then(() => open(`http://127.0.0.1:${access.pagePort}/`));
  return client;
}
