import { spawn } from 'node:child_process';

export interface RunShownOptions {
  /** Ends the command with SIGTERM. */
  readonly stop: AbortSignal;
  /** Default: that of this process. */
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command and shows its output.
 * @returns its standard output
 * @throws Error when it fails
 */
export async function runShown(
  command: string,
  words: readonly string[],
  { stop, cwd, env = {} }: RunShownOptions,
): Promise<string> {
  stop.throwIfAborted();
  const child = spawn(command, words, { cwd, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const onStop = () => child.kill('SIGTERM');
  stop.addEventListener('abort', onStop, { once: true });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  stop.removeEventListener('abort', onStop);
  if (code !== 0) throw new Error(`failed (${code ?? child.signalCode}): ${command} ${words.join(' ')}`);
  return output;
}
