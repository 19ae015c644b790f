#!/usr/bin/env node
import { closeSync, openSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runCommand } from './tools/commands.ts';
import { readConfig } from './config/config.ts';
import type { Config } from './config/config.ts';
import { processEnvironment } from './config/environment.ts';
import type { Environment } from './config/variable.ts';
import { SetupError, StoppedError, UsageError } from './base/errors.ts';
import { help } from './tools/help.ts';
import { LogDestination } from './base/log-destination.ts';
import { createLog, LogWindow } from './base/log.ts';
import type { Logger } from './base/log.ts';
import { disablePretenuring } from './ops/memory/pretenuring.ts';
import { podName } from './config/pod-name.ts';
import { ExitProfile } from './ops/profiling/exit-profile.ts';
import type { ExitProfileOptions } from './ops/profiling/exit-profile.ts';
import type { Pod } from './ops/processes/pod.ts';
import type { Starter } from './ops/processes/starter.ts';
import type { Server } from './server.ts';
import { finishMs } from './config/shutdown-times.ts';
import { Shutdown } from './ops/shutdown.ts';
import { readVersion } from './base/version.ts';
import { escapeHidden } from './base/visible.ts';
import { startWatchdog } from './ops/watchdog.ts';

const LOG_WINDOW_MS = 10_000;

async function main(standardError: LogDestination): Promise<void> {
  const [word = '', ...rest] = process.argv.slice(2);
  const isServer = word === 'start' || word === 'dev';
  if (!isServer && /^[^-]/.test(word)) return exit(await runCommand(word, rest));
  const { values, positionals } = readArguments(isServer ? rest : process.argv.slice(2));
  if (values.help) return void process.stdout.write(help());
  if (values.version) return void process.stdout.write(`${readVersion()}\n`);

  const [folder] = positionals;
  const environment = processEnvironment(folder);
  if (values['check-config']) return check(environment);

  await start(readConfig(environment), word === 'dev', standardError);
}

/** Runs the server, or the processes of a pod, until a signal ends it. */
async function start(config: Config, isDev: boolean, standardError: LogDestination): Promise<void> {
  disablePretenuring();
  const starter = config.process === undefined ? undefined : new (await import('./ops/processes/starter.ts')).Starter();
  const isPod = !starter && config.PROCESSES > 1;
  // Most of a second: --help and the errors of settings need not wait for it.
  const [pod, one] = isPod ? [await import('./ops/processes/pod.ts')] : [undefined, await import('./server.ts')];
  const dev = isDev ? await import('./tools/dev.ts') : undefined;
  if (dev && config.PROCESSES > 1) throw new UsageError('PROCESSES: expected 1 with crier dev');
  const printer = dev && new dev.ReloadPrinter();
  const facts = factsOf(config);
  if (config.PROCESSES > 1) standardError.share();
  const log = createLog(config.LOG_LEVEL, facts, standardError);
  const exitProfile = await startExitProfile(config, { ...facts, role: config.process ?? config.ROLE }, log);
  const fail = (error: unknown, message: string) => {
    if (error instanceof SetupError) log.fatal(error.message);
    else log.fatal({ err: error }, message);
    void Promise.resolve(exitProfile?.finish()).then(() => log.flush(() => process.exit(1)));
  };
  const unhandledRejections = logUnhandled(log, fail);
  const watchdog = startWatchdog({
    timeoutMs: config.SHUTDOWN_TIMEOUT_MS,
    facts,
    onFailure: (error) => log.error({ err: error }, 'there is no watchdog'),
  });
  const shutdown = new Shutdown(config.SHUTDOWN_TIMEOUT_MS, log, async () => exitProfile?.finish());
  shutdown.stop.addEventListener('abort', () => watchdog.expectEnd());
  const options = {
    onFatal: (error: Error) => fail(error, 'crier cannot continue'),
    stop: shutdown.stop,
    fastShutdown: shutdown.fastShutdown,
    beforeLongTurn: () => watchdog.pause(),
    unhandledRejections,
    droppedLogLines: () => standardError.droppedLines,
  };
  const starting: Promise<Server | Pod> = pod
    ? pod.startPod(config, log, options)
    : one.startServer(config, log, {
        ...options,
        ...(printer && { onReload: (outcome, durationMs) => printer.print(outcome, durationMs) }),
        ...(starter && { onAdmin: (adminPort) => void starter.report({ adminPort }) }),
      });
  shutdown.listen(starting, starter?.signals);
  reloadOnHangup(starting, starter);
  starter?.listen();
  const server = await started(starting, starter);
  if (!server || shutdown.stop.aborted) return;
  if (starter && 'graph' in server) return starter.reportStart(server);
  process.stdout.write(server.banner);
  if (dev && 'reload' in server) await dev.watchGraph(config.GRAPH || one!.BUILT_IN_GRAPH, server);
}

/** What each line of the log says of this process. */
function factsOf(config: Config) {
  return {
    pod: podName(config),
    ...(config.process !== undefined && { process: config.process }),
    role: config.ROLE,
    version: readVersion(),
  };
}

/** Logs what nothing in this process has handled. @returns a count of the rejections */
function logUnhandled(log: Logger, fail: (error: unknown, message: string) => void): () => number {
  // An uncaught exception interrupts a callback: a socket, a parser or a queue may be half changed, so the state is unknown.
  process.on('uncaughtException', (error) => fail(error, 'uncaught exception'));
  // An unhandled rejection ends only its own async function, most often one that a resolver started and did not await. Ending the pod
  // would disconnect all of its clients, and then those of the next pod, where the same event meets the same resolver. crier's own loops
  // report their failures through `onFatal`. graphql-js drops promises, too: those of a list's items, if a later item throws synchronously
  // (https://github.com/graphql/graphql-js/pull/3761). The result is correct all the same.
  let rejections = 0;
  const window = new LogWindow(LOG_WINDOW_MS);
  process.on('unhandledRejection', (reason) => {
    rejections++;
    window.run('rejection', (suppressed) =>
      log.error({ err: reason, suppressed }, 'a promise was rejected, and nothing handled it'),
    );
  });
  // Node prints its warnings as text, which is no line of the log.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) =>
    window.run('warning', (suppressed) => log.warn({ err: { type: name, message }, suppressed }, 'a warning of Node')),
  );
  return () => rejections;
}

/** A reload that is asked for while the pod starts follows the start. It reports what became of it. */
function reloadOnHangup(starting: Promise<Server | Pod>, starter: Starter | undefined): void {
  (starter?.signals ?? process).on('SIGHUP', () => {
    if (!starter && hasLostTerminal()) process.kill(process.pid, 'SIGTERM');
    else starting.then((server) => server.reloadPods()).catch(() => undefined);
  });
}

/** Resolves with undefined if a signal has ended the start: the shutdown reports it, and ends the process. */
async function started(
  starting: Promise<Server | Pod>,
  starter: Starter | undefined,
): Promise<Server | Pod | undefined> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof StoppedError) return undefined;
    if (!starter || !(error instanceof SetupError)) throw error;
    await starter.report({ refused: error.message });
    return exit(1);
  }
}

/** True if the signal came because the terminal was closed: a process that a person has started there ends with it. */
function hasLostTerminal(): boolean {
  if (!process.stdout.isTTY) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}

/** undefined: none is recorded. */
async function startExitProfile(
  config: Config,
  facts: ExitProfileOptions['facts'],
  log: Logger,
): Promise<ExitProfile | undefined> {
  if (config.PROFILE_ON_EXIT === '') return undefined;
  const profile = new ExitProfile({ target: config.PROFILE_ON_EXIT, facts, timeoutMs: finishMs(config) / 4, log });
  await profile.start();
  return profile;
}

/** Exits with 1 if a check has failed, else with 0; explicitly, because a module of the graph may keep the process alive. */
async function check(environment: Environment): Promise<void> {
  const { checkConfig, linesOf } = await import('./ops/check/check-config.ts');
  const { BUILT_IN_GRAPH } = await import('./server.ts');
  const findings = await checkConfig(environment, BUILT_IN_GRAPH);
  const hasFailed = findings.some(({ status }) => status === 'failed');
  process.stdout.write(linesOf(findings));
  await exit(hasFailed ? 1 : 0);
}

/** Ends the process once the readers of both standard streams have everything, or are gone. */
async function exit(code: number): Promise<never> {
  await Promise.all([process.stdout, process.stderr].map(drained));
  return process.exit(code);
}

/** A pipe and a terminal take a few KB at a time; `process.exit` drops what waits. */
async function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
}

function readArguments(args: readonly string[]) {
  try {
    const flag = { type: 'boolean' } as const;
    const options = {
      'check-config': flag,
      help: { ...flag, short: 'h' },
      version: { ...flag, short: 'v' },
    } as const;
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    const extra = parsed.positionals[1];
    if (extra === undefined) return parsed;
    throw new Error(`Unexpected argument '${extra}'`);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${message}; settings are environment variables, which --help lists`, { cause: error });
  }
}

/**
 * Keeps a standard stream from ending or blocking the server. Write errors of a stream without a reader are ignored, and writes to a
 * stopped terminal (Ctrl-S) are asynchronous, where Node's block.
 */
function releaseStandardStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined);
    const { _handle: handle } = stream as { _handle?: { setBlocking?(isBlocking: boolean): void } };
    if (stream.isTTY) handle?.setBlocking?.(false);
  }
}

releaseStandardStreams();
const standardError = new LogDestination(process.stderr);
main(standardError).catch((error: unknown) => {
  const { message, stack } = error as Error;
  // Messages may quote a server, a topic or a file.
  standardError.write(`crier: ${escapeHidden((error instanceof SetupError ? message : stack) ?? message)}\n`);
  // A module of the graph may keep the process alive: exit explicitly.
  const code = error instanceof UsageError ? 2 : 1;
  // A pod must end though nobody reads its log: `flush` waits for 3 s at most.
  standardError.flush(() => void drained(process.stdout).then(() => process.exit(code)));
});
