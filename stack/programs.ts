import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Programs that the stack and the tests run, with the Debian package of each. */
const DEBIAN_PACKAGES = {
  'redis-server': 'redis-server',
  java: 'default-jre-headless',
  mvn: 'maven',
  kcat: 'kcat',
  chromium: 'chromium',
  ps: 'procps',
  prometheus: 'prometheus',
  openssl: 'openssl',
  zsh: 'zsh',
  fish: 'fish',
} as const;

/** Programs that only the tests of proxies run: the proxies, and what they need. */
const PROXY_PACKAGES = { nginx: 'nginx', haproxy: 'haproxy', pip3: 'python3-pip' } as const;

/** Programs that only the tests of clients run: Java runs a client from its source, which the runtime alone cannot; WebKit needs a display. */
const CLIENT_PACKAGES = {
  javac: 'default-jdk-headless',
  curl: 'curl',
  WebKitWebDriver: 'webkit2gtk-driver',
  'xvfb-run': 'xvfb xauth',
} as const;

/** Programs that only the tests of change data capture run. Debian keeps the server of PostgreSQL outside of PATH, and its client on it. */
const CAPTURE_PACKAGES = { psql: 'postgresql', mariadbd: 'mariadb-server' } as const;

/** Programs that only the tests of the image run: they build it and run it, without a service. */
const IMAGE_PACKAGES = { debootstrap: 'debootstrap', buildah: 'buildah', runc: 'runc' } as const;

/** Programs that Debian starts as services when it installs them, with the name of the service where it is another. */
const SERVICES = new Map<Program, string>([
  ['redis-server', 'redis-server'],
  ['prometheus', 'prometheus'],
  ['nginx', 'nginx'],
  ['haproxy', 'haproxy'],
  ['psql', 'postgresql'],
  ['mariadbd', 'mariadb'],
]);

/** Longest wait for another apt-get, in ms, and the pause between two attempts. */
const LOCK_TIMEOUT_MS = 10 * 60_000;
const LOCK_PAUSE_MS = 1_000;

export type Program =
  | keyof typeof DEBIAN_PACKAGES
  | keyof typeof PROXY_PACKAGES
  | keyof typeof CLIENT_PACKAGES
  | keyof typeof CAPTURE_PACKAGES
  | keyof typeof IMAGE_PACKAGES;

export const PROGRAMS = Object.keys(DEBIAN_PACKAGES) as Program[];
export const PROXY_PROGRAMS = Object.keys(PROXY_PACKAGES) as Program[];
export const IMAGE_PROGRAMS = Object.keys(IMAGE_PACKAGES) as Program[];

export async function missingPrograms(programs: readonly Program[]): Promise<Program[]> {
  const found = await Promise.all(programs.map(isOnPath));
  return programs.filter((_, index) => !found[index]);
}

/** The command that installs the programs on Debian. */
export function installHint(programs: readonly Program[]): string {
  return `on Debian: apt-get update && apt-get install --no-install-recommends ${packagesOf(programs)}`;
}

/**
 * Installs missing programs with apt-get, reports that on standard error, and keeps Debian from starting services of its own.
 * Waits for another apt-get.
 * @throws Error that names the programs to install, if this process is not root or there is no apt-get.
 */
export async function installPrograms(missing: readonly Program[]): Promise<void> {
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !(await isOnPath('apt-get'))) {
    throw new Error(`missing on this machine: ${missing.join(', ')}; ${installHint(missing)}`);
  }
  process.stderr.write(`Installing ${packagesOf(missing)} by apt-get ...\n`);
  await runAptGet(['update', '-q']);
  await runAptGet(['install', '-y', '-q', '--no-install-recommends', ...packagesOf(missing).split(' ')]);
  for (const [program, service] of SERVICES) {
    if (!missing.includes(program)) continue;
    await runProgram('systemctl', ['disable', '--now', service]).catch(() =>
      runProgram('service', [service, 'stop']).catch(() => undefined),
    );
  }
}

/** Retries while another apt-get runs. DPkg::Lock::Timeout waits for one of its two locks only, not for the lock of the package lists. */
async function runAptGet(commandArguments: readonly string[]): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  for (let attempt = 1; ; attempt++) {
    const { code, errors } = await runAptGetOnce(commandArguments);
    if (code === 0) return;
    if (!/Could not get lock|Unable to (acquire|lock)/.test(errors) || performance.now() > deadline) {
      throw new Error(`failed (${code}): apt-get ${commandArguments.join(' ')}\n${errors.trimEnd()}`);
    }
    if (attempt === 1) process.stderr.write('Waiting for another apt-get ...\n');
    await delay(LOCK_PAUSE_MS);
  }
}

async function runAptGetOnce(commandArguments: readonly string[]): Promise<{ code: number | null; errors: string }> {
  const child = spawn('apt-get', commandArguments, {
    stdio: ['ignore', 2, 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, errors };
}

/** Runs a program until it ends, with its output on standard error. @throws Error that names the command if it fails. */
export async function runProgram(command: string, commandArguments: readonly string[]): Promise<void> {
  const child = spawn(command, commandArguments, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Error(`failed (${code ?? child.signalCode}): ${command} ${commandArguments.join(' ')}`);
}

function packagesOf(programs: readonly Program[]): string {
  const packages = {
    ...DEBIAN_PACKAGES,
    ...PROXY_PACKAGES,
    ...CLIENT_PACKAGES,
    ...CAPTURE_PACKAGES,
    ...IMAGE_PACKAGES,
  };
  return programs.map((program) => packages[program]).join(' ');
}

async function isOnPath(program: string): Promise<boolean> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (
      await access(join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return true;
  }
  return false;
}
