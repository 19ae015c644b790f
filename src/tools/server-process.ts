import { closeSync, openSync } from 'node:fs';
import { logConsole } from '../base/console-log.ts';
import { GraphError, SetupError, StoppedError } from '../base/errors.ts';
import { exit } from '../base/exit.ts';
import { LogDestination } from '../base/log-destination.ts';
import { createLog, logFormat, LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { standardError } from '../base/standard-error.ts';
import { readVersion } from '../base/version.ts';
import type { Announcement } from '../config/announcement.ts';
import { BUILT_IN_GRAPH } from '../config/built-in-graph.ts';
import type { Config } from '../config/config.ts';
import { ENVIRONMENT_FILE } from '../config/environment.ts';
import { endedNodeLine } from '../config/node-line.ts';
import { podName } from '../config/pod-name.ts';
import { finishMs } from '../config/shutdown-times.ts';
import { disablePretenuring } from '../ops/memory/pretenuring.ts';
import type { Pod } from '../ops/processes/pod.ts';
import type { Starter } from '../ops/processes/starter.ts';
import { ExitProfile } from '../ops/profiling/exit-profile.ts';
import type { ExitProfileOptions } from '../ops/profiling/exit-profile.ts';
import { Shutdown } from '../ops/shutdown.ts';
import { startWatchdog } from '../ops/watchdog.ts';
import type { Server, ServerOptions } from '../server.ts';

const LOG_WINDOW_MS = 10_000;

/** What each line of the log says of this process. */
interface Facts extends Readonly<Record<string, string>> {
  readonly pod: string;
  readonly role: string;
  readonly version: string;
}

export interface ServerProcessOptions extends Pick<ServerOptions, 'graph' | 'onReload'> {
  /** Settings that are from the file .env; undefined: there is none. */
  readonly fromFile: readonly string[] | undefined;
  /** Called with the mistakes of a graph that cannot be served, in one process; once it resolves the start is tried again. */
  readonly onBrokenGraph?: (error: GraphError, stop: AbortSignal) => Promise<void>;
  /** Called with the server when it has started, in one process. */
  readonly onStarted?: (server: Server) => Promise<unknown>;
}

/** Runs the server, or the processes of a pod, until a signal ends it. */
export async function runServer(
  config: Config,
  { fromFile, onBrokenGraph, onStarted, ...reloading }: ServerProcessOptions,
): Promise<void> {
  disablePretenuring();
  const starter =
    config.process === undefined ? undefined : new (await import('../ops/processes/starter.ts')).Starter();
  const isPod = !starter && config.PROCESSES > 1;
  const facts = factsOf(config);
  const format = logFormat(config.LOG_FORMAT);
  if (config.PROCESSES > 1) standardError.share();
  const log = createLog(config.LOG_LEVEL, facts, standardError, format);
  if (format === 'json') logConsole(log);
  logWarnings(log);
  if (format === 'text' && !starter)
    log.info({ graph: config.GRAPH || BUILT_IN_GRAPH }, `crier ${facts.version} starts`);
  if (fromFile) log.info({ settings: fromFile.length }, `settings were read from ${ENVIRONMENT_FILE}`);
  // Most of a second, for which the errors of settings need not wait.
  const [pod, one] = isPod ? [await import('../ops/processes/pod.ts')] : [undefined, await import('../server.ts')];
  const exitProfile = await startExitProfile(config, { ...facts, role: config.process ?? config.ROLE }, log);
  const fail = (error: unknown, message: string) => {
    // The error that ends the process is logged whatever LOG_LEVEL is.
    if (log.level === 'silent') log.level = 'fatal';
    if (error instanceof SetupError) log.fatal(error.message);
    else log.fatal({ err: error }, message);
    void Promise.resolve(exitProfile?.finish()).then(() => log.flush(() => process.exit(1)));
  };
  const unhandledRejections = logUnhandled(log, fail);
  const watchdog = startWatchdog({
    timeoutMs: config.SHUTDOWN_TIMEOUT_MS,
    facts,
    format,
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
  const start = () =>
    one!.startServer(config, log, {
      ...options,
      ...reloading,
      ...(starter && { onAdmin: (adminPort) => void starter.report({ adminPort }) }),
    });
  const starting: Promise<Server | Pod> = pod
    ? pod.startPod(config, log, options)
    : startCorrected(start, shutdown.stop, onBrokenGraph);
  shutdown.listen(starting, starter?.signals);
  reloadOnHangup(starting, starter);
  starter?.listen();
  const server = await started(starting, starter, config, fail);
  if (!server || shutdown.stop.aborted) return;
  if (starter && 'graph' in server) return starter.reportStart(server);
  const ended = endedNodeLine(process.version);
  if (ended !== undefined) log.warn(ended);
  announce(server.announcement, config, facts);
  if ('reload' in server) await onStarted?.(server);
}

/** Starts the server, again after each call of `onBroken`. */
async function startCorrected(
  start: () => Promise<Server>,
  stop: AbortSignal,
  onBroken: ServerProcessOptions['onBrokenGraph'],
): Promise<Server> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!onBroken || !(error instanceof GraphError)) throw error;
      await onBroken(error, stop);
      if (stop.aborted) throw new StoppedError();
    }
  }
}

/** Prints the addresses on standard output: a banner on a terminal, elsewhere a line, whatever LOG_LEVEL is. */
function announce({ banner, facts }: Announcement, { LOG_FORMAT }: Config, ofEachLine: Facts): void {
  const format = logFormat(LOG_FORMAT, process.stdout);
  if (format === 'text' && process.stdout.isTTY) return void process.stdout.write(banner);
  createLog('info', ofEachLine, new LogDestination(process.stdout), format).info(facts, 'ready');
}

function factsOf(config: Config): Facts {
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
  return () => rejections;
}

/** Logs the warnings of Node, which prints them as text: also those of the modules that are loaded now. */
function logWarnings(log: Logger): void {
  const window = new LogWindow(LOG_WINDOW_MS);
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: string }) => {
    // Node 26 deprecates module.register; the way that replaces it is not in Node 20.19. Goes with Node 20.
    if (warning.code === 'DEP0205') return;
    const { name, message } = warning;
    window.run('', (suppressed) => log.warn({ err: { type: name, message }, suppressed }, 'a warning of Node'));
  });
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
  { GRAPH, LOG_FORMAT }: Config,
  fail: (error: unknown, message: string) => void,
): Promise<Server | Pod | undefined> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof StoppedError) return undefined;
    if (starter && error instanceof SetupError) {
      await starter.report({ refused: error.message });
      return exit(1);
    }
    if (LOG_FORMAT === 'json') return void fail(error, 'crier cannot start');
    if (error instanceof GraphError && process.stderr.isTTY) throw await withPlaces(error, GRAPH || BUILT_IN_GRAPH);
    throw error;
  }
}

/** For a person at a terminal. */
async function withPlaces(error: GraphError, graph: string): Promise<GraphError> {
  const { framed } = await import('./code-frame.ts');
  return new GraphError(framed(error.message.split('\n'), graph).join('\n').trimEnd(), { cause: error });
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
