import { execFileSync, spawn } from 'node:child_process';

/** Set for what runs in a namespace of its own. */
const MARK = 'LOADTEST_NETWORK_NAMESPACE';

/**
 * The kernel's start values of socket buffers, which may not grow: a socket that nobody reads holds some 200 KB in all, and not the
 * megabytes that the kernel would come to give it. Sockets that are read keep up without more. Only the namespace is changed.
 */
const SETUP =
  'ip link set lo up && echo 4096 16384 65536 > /proc/sys/net/ipv4/tcp_wmem && ' +
  'echo 4096 131072 131072 > /proc/sys/net/ipv4/tcp_rmem && exec "$0" "$@"';

/** Whether this process's sockets have buffers that do not grow. */
export const hasSmallBuffers: boolean = process.env[MARK] !== undefined;

/** The command line that runs another in a network namespace with small socket buffers, loopback alone; undefined: it cannot be made. */
export function smallBufferCommand(command: readonly string[]): readonly [string, ...string[]] | undefined {
  const line = (words: readonly string[]) => [...unshareFlags(), 'sh', '-c', SETUP, ...words];
  try {
    execFileSync('unshare', line(['true']), { stdio: 'ignore' });
    return ['unshare', ...line(command)];
  } catch {
    return undefined;
  }
}

/** Who is not root may be it in a user namespace, where the kernel allows those. */
function unshareFlags(): string[] {
  return process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];
}

/** Runs a command line of `smallBufferCommand` until it ends, and returns its exit code. It ends with this process, too. */
export function runWithSmallBuffers(
  [command, ...words]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<number> {
  // A process group of its own, so that Ctrl-C reaches it once: through us.
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
