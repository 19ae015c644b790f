import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What is written. The target appends the name if it is a directory, or a URL that ends with `/`. */
export interface ProfileFile {
  readonly name: string;
  /** JSON. */
  readonly body: Buffer;
}

/** A directory, or a URL that takes files by PUT. */
export type ProfileTarget = { readonly folder: string } | { readonly url: URL };

/** Why a text is no target; it has no part of a URL, whose query may be a signature. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/** @throws TargetError for a URL that cannot be used, and for a directory that is missing or may not be written to */
export function parseTarget(text: string): ProfileTarget {
  if (text.includes('://')) return { url: parseUrl(text) };
  try {
    if (!statSync(text).isDirectory()) throw new TargetError(`${JSON.stringify(text)} is not a directory`);
    // Whether a file may be created shows only when one is.
    rmdirSync(mkdtempSync(join(text, '.crier-')));
  } catch (error) {
    if (error instanceof TargetError) throw error;
    throw new TargetError(`${JSON.stringify(text)} ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  return { folder: text };
}

/**
 * Writes the file into the directory, or sends it to the URL. To a URL that ends with `/` the file's name is appended; any other may be
 * signed for one object.
 *
 * @param signal ends requests
 * @throws Error whose message has no part of the URL
 */
export async function writeProfile(
  target: ProfileTarget,
  { name, body }: ProfileFile,
  signal: AbortSignal,
): Promise<void> {
  if ('folder' in target) return writeWhole(join(target.folder, name), body);
  const url = new URL(target.url);
  if (url.pathname.endsWith('/')) url.pathname += name;
  await put(url, body, signal);
}

/** Whoever watches the directory never sees a part of a file under its name. */
async function writeWhole(path: string, body: Buffer): Promise<void> {
  const part = `${path}.part`;
  await writeFile(part, body, { flag: 'wx' });
  await rename(part, path);
}

async function put(url: URL, body: Buffer, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  let response: Response;
  try {
    // A redirection is not followed: it would be a host that nobody named.
    response = await fetch(url, { method: 'PUT', headers, body, redirect: 'manual', signal });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    throw new Error(`${url.host} was not reached: ${cause?.code ?? cause?.message ?? message}`, { cause: undefined });
  }
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${url.host} answered with status ${response.status}`);
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new TargetError('its URL does not begin with http:// or https://');
  // Node's fetch refuses such a URL.
  if (url.username !== '' || url.password !== '') throw new TargetError('its URL has a user name or a password');
  return url;
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EROFS') return 'may not be written to by this user';
  return `cannot be written to (${code ?? message})`;
}
