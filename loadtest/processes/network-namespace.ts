import { execFileSync, spawn } from 'node:child_process';

/** Set for processes in such a namespace. */
const MARK = 'LOADTEST_NETWORK_NAMESPACE';

/**
 * Socket buffers keep the kernel's initial sizes: a socket that is not read holds about 200 KB instead of megabytes. Sockets that are
 * read need no more. Only the namespace is changed.
 */
const SETUP =
  'ip link set lo up && echo 4096 16384 65536 > /proc/sys/net/ipv4/tcp_wmem && ' +
  'echo 4096 131072 131072 > /proc/sys/net/ipv4/tcp_rmem && exec "$0" "$@"';

/** Whether the buffers of this process's sockets keep their initial sizes. */
export const hasSmallBuffers: boolean = process.env[MARK] !== undefined;

/** A command line that runs another in a network namespace with small socket buffers and only loopback; undefined if impossible. */
export function smallBufferCommand(command: readonly string[]): readonly [string, ...string[]] | undefined {
  const line = (words: readonly string[]) => [...unshareFlags(), 'sh', '-c', SETUP, ...words];
  try {
    execFileSync('unshare', line(['true']), { stdio: 'ignore' });
    return ['unshare', ...line(command)];
  } catch {
    return undefined;
  }
}

/** Without root privileges this needs a user namespace, if the kernel allows it. */
function unshareFlags(): string[] {
  return process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];
}

/** Runs a command line of `smallBufferCommand` and returns its exit code. It ends with this process. */
export function runWithSmallBuffers(
  [command, ...words]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<number> {
  // Its own process group: Ctrl-C reaches it once, forwarded by this process.
  const child = spawn(command, words, { stdio: 'inherit', detached: true, env: { ...process.env, [MARK]: '1' } });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  process.once('exit', stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      process.removeListener('exit', stop);
      resolve(code ?? 1);
    });
  });
}
