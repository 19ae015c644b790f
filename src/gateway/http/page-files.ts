import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** For pages and their files. */
const HARDENING = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Headers of an HTML page. */
export function pageHeaders(page: Buffer, contentSecurityPolicy: string) {
  return {
    ...HARDENING,
    'content-type': 'text/html; charset=utf-8',
    'content-length': page.byteLength,
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-cache',
  };
}

interface PageFile {
  readonly body: Buffer;
  readonly etag: string;
}

/**
 * The scripts and styles of a page, which scripts/bundle-pages.js writes gzipped. They are revalidated by ETag, so a new deployment is seen
 * at the next load. Each is read at its first request and sent from memory (2 MB at most for all, and as much again as 8 MB for clients
 * that accept no gzip; shared by all replies), so no client can keep a file open. sirv 3.0.2 leaves a file open if its client disconnects
 * during the download.
 */
export class PageFiles {
  readonly #folder: string;
  readonly #names: ReadonlySet<string>;
  /** By name, with `.gz` if gzipped. */
  readonly #files = new Map<string, Promise<PageFile>>();

  constructor(folder: string) {
    this.#folder = folder;
    this.#names = new Set(namesIn(folder));
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Answers a GET or HEAD of a file that is there. */
  async send(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const isGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    const { body, etag } = await (isGzip ? this.#packed(name) : this.#plain(name));
    const headers = { ...HARDENING, etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, headers).end();
      return;
    }
    response.writeHead(200, {
      ...headers,
      'content-type': CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
      'content-length': body.byteLength,
      ...(isGzip && { 'content-encoding': 'gzip' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  #packed(name: string): Promise<PageFile> {
    const path = `${name}.gz`;
    return this.#kept(path, () => readFile(join(this.#folder, path)));
  }

  #plain(name: string): Promise<PageFile> {
    return this.#kept(name, async () => promisify(gunzip)((await this.#packed(name)).body));
  }

  #kept(key: string, read: () => Promise<Buffer>): Promise<PageFile> {
    let file = this.#files.get(key);
    if (!file) {
      file = read().then((body) => ({ body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }));
      this.#files.set(key, file);
      file.catch(() => this.#files.delete(key));
    }
    return file;
  }
}

/** None if the folder is missing: src was compiled without its pages. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => (name.endsWith('.gz') ? [name.slice(0, -'.gz'.length)] : []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}
