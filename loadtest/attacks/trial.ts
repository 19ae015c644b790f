import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import { SERVER_CORE, pinned } from '../processes/pinning.ts';
import { callProcess } from '../processes/process-call.ts';
import { cpuMs, residentBytes } from '../processes/process-usage.ts';
import { startServerProcess, stopProcess } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';
import type { Attack } from './attack.ts';
import type { AttackAnswers } from './attacker.ts';
import { Bystanders } from './bystanders.ts';
import type { Latencies } from './bystanders.ts';
import { HealthProbe } from './health-probe.ts';

export interface TrialOptions {
  readonly attack: Attack;
  /** Name of the build: crier, base or control. */
  readonly build: string;
  readonly script: string;
  /** True if the attack goes to a process that only reads, and not to the server. */
  readonly isControl: boolean;
  readonly redisUrl: string;
  readonly healthySockets: number;
  /** Duration of each phase. */
  readonly seconds: number;
  readonly onPhase: (phase: string) => void;
}

/** Figures of one phase. */
export interface Phase {
  readonly healthz: Latencies;
  readonly delivery: Latencies;
  /** The server's share of a core. */
  readonly cpuShare: number;
  /** Largest resident memory. */
  readonly maxResidentBytes: number;
}

export interface Trial {
  readonly attack: string;
  readonly build: string;
  readonly before: Phase;
  readonly during: Phase;
  readonly after: Phase;
  /** Resident memory after a garbage collection: before the attack, with the attacker's operations, and after its sockets have closed. */
  readonly keptBeforeBytes: number;
  readonly keptDuringBytes: number;
  readonly keptAfterBytes: number;
  readonly attackerSockets: number;
  readonly answers: AttackAnswers;
  /** Healthy sockets that were closed. */
  readonly healthyCloses: number;
}

const CHANNEL_PREFIX = 'attacks:';
const RESIDENT_INTERVAL_MS = 200;
/** Time for V8 to optimise the code. */
const WARM_UP_SECONDS = 3;

/** Starts a server and measures the phases before, during and after one attack. */
export async function runTrial(options: TrialOptions): Promise<Trial> {
  const { attack, build, script, isControl, redisUrl, healthySockets, seconds, onPhase } = options;
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const server = await startServerProcess(
    script,
    port,
    { ROLE: 'gateway', ADMIN_PORT: String(adminPort), REDIS_URL: redisUrl, CHANNEL_PREFIX, LOG_LEVEL: 'silent' },
    startArguments(),
  );
  const attacker = fork(new URL('attacker.js', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const sink = isControl ? startSink() : undefined;
  const probe = new HealthProbe(adminPort);
  let bystanders: Bystanders | undefined;
  try {
    onPhase(`opens ${healthySockets} healthy sockets and ${attack.sockets} of the attacker's`);
    bystanders = await Bystanders.open({ port, redisUrl, channelPrefix: CHANNEL_PREFIX, sockets: healthySockets });
    const attackedPort = sink ? await callProcess<number>(sink, 'listen') : port;
    await callProcess(attacker, 'connect', { name: attack.name, port: attackedPort });
    probe.start();
    const { pid } = server;
    const observe = (duration: number) => observePhase(pid, probe, bystanders!, duration);
    await observe(WARM_UP_SECONDS);
    const keptBeforeBytes = await server.keptBytes();
    onPhase('before');
    await observe(1);
    const before = await observe(seconds);
    onPhase('during');
    const underAttack = observe(seconds);
    await callProcess(attacker, 'attack', { name: attack.name });
    const during = await underAttack;
    const keptDuringBytes = await server.keptBytes();
    const answers = await callProcess<AttackAnswers>(attacker, 'answers');
    await callProcess(attacker, 'leave');
    onPhase('after');
    const after = await observe(seconds);
    const keptAfterBytes = await server.keptBytes();
    return {
      attack: attack.name,
      build,
      before,
      during,
      after,
      keptBeforeBytes,
      keptDuringBytes,
      keptAfterBytes,
      attackerSockets: attack.sockets,
      answers,
      healthyCloses: bystanders.closes,
    };
  } finally {
    probe.close();
    bystanders?.close();
    await stopProcess(attacker);
    if (sink) await stopProcess(sink);
    await server.stop();
  }
}

function startSink(): ChildProcess {
  const script = new URL('sink.js', import.meta.url).pathname;
  const [command, ...words] = pinned(SERVER_CORE, [process.execPath, script]);
  return spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

async function observePhase(pid: number, probe: HealthProbe, bystanders: Bystanders, seconds: number): Promise<Phase> {
  probe.take();
  bystanders.take();
  const startedAt = performance.now();
  const cpuBefore = cpuMs(pid);
  let maxResidentBytes = 0;
  while (performance.now() - startedAt < seconds * 1000) {
    maxResidentBytes = Math.max(maxResidentBytes, residentBytes(pid));
    await delay(RESIDENT_INTERVAL_MS);
  }
  const cpuShare = (cpuMs(pid) - cpuBefore) / (performance.now() - startedAt);
  return { healthz: probe.take(), delivery: bystanders.take(), cpuShare, maxResidentBytes };
}
