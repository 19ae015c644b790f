import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { constants } from 'node:fs';

const MAX_BYTES = 65_536;

/** A file whose content cannot be used. The message says why and never shows the content. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError';
}

/**
 * The content of a file without one trailing newline. Only regular files are read, because a pipe without a writer would block the start.
 * @throws SecretFileError for a file that is missing, unreadable, not regular, empty, larger than 64 KiB or not UTF-8
 */
export function readSecretFile(path: string): string {
  const bytes = readRegularFile(path, MAX_BYTES);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new SecretFileError('is not UTF-8 text');
  }
  if (text === '') throw new SecretFileError('is empty');
  return text;
}

/** @throws SecretFileError for a file that is missing, unreadable, not regular or larger */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new SecretFileError('is a directory');
    if (!stats.isFile()) throw new SecretFileError('is not a regular file');
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0; length += read) read = readSync(file, buffer, length, buffer.length - length, null);
    if (length > maxBytes) throw new SecretFileError(`is larger than ${maxBytes} bytes`);
    return buffer.subarray(0, length);
  } catch (error) {
    if (error instanceof SecretFileError) throw error;
    throw new SecretFileError(reasonOf(error as NodeJS.ErrnoException));
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES') return 'may not be read by this user';
  return `cannot be read (${code ?? message})`;
}
