import type { FleetReport } from '../market/clients/fleet-report.ts';
import type { Flatness } from './flatness.ts';
import { ledgerFaults } from './ledger-faults.ts';
import type { LogReader } from './log-pipe.ts';

const MAX_DEVIATION_PERCENT = 10;
const MAX_RETURN_MS = 10_000;
const MAX_LAG_MS = 100;

/** One drain. Times in ms since SIGTERM. */
export interface DrainOutcome {
  readonly logReader: LogReader;
  readonly unreadyMs: number;
  readonly firstCloseMs: number;
  readonly endedMs: number;
  readonly ending: number | NodeJS.Signals;
  /** Of the closes that clients see. */
  readonly flatness: Flatness;
  /** Closes by code. */
  readonly codes: Readonly<Record<string, number>>;
  /** 99th percentile of the delay of a 10 ms timer in the other pod, from SIGTERM until every client is back. */
  readonly lagP99Ms: number;
  /** CPU of the drained and of the other pod, in percent of a core, from SIGTERM to the end of the drained one. */
  readonly drainedCpuPercent: number;
  readonly otherCpuPercent: number;
  /** Time that the other pod was runnable without a core, in percent. */
  readonly waitPercent: number;
  readonly fleet: FleetReport;
}

/** Bounds of a drain that depend on its settings. */
export interface DrainPlan {
  readonly stock: number;
  readonly resuming: number;
  readonly delayMs: number;
  readonly shutdownTimeoutMs: number;
}

/** One line for each bound that was missed. */
export function drainFaults(outcome: DrainOutcome, plan: DrainPlan): string[] {
  const { logReader, flatness, codes, fleet } = outcome;
  const resuming = fleet.resuming;
  const clients = plan.stock + plan.resuming;
  const { 1001: goingAway = 0, ...otherCodes } = codes;
  const returnMs = Math.max(fleet.reconnects.maxMs, resuming?.reconnects.maxMs ?? 0);
  const isBack = fleet.ready === plan.stock && (resuming?.ready ?? 0) === plan.resuming;
  const failed = [...Object.keys(fleet.failedAttempts), ...Object.keys(resuming?.failedAttempts ?? {})];
  const faults: readonly (string | false)[] = [
    outcome.ending !== 0 && `the pod ended with ${outcome.ending}`,
    outcome.endedMs > plan.shutdownTimeoutMs && `the pod ended after ${seconds(outcome.endedMs)}`,
    outcome.firstCloseMs < Math.max(outcome.unreadyMs, plan.delayMs) &&
      `the first close came ${seconds(outcome.firstCloseMs)} after SIGTERM`,
    goingAway !== clients && `${goingAway} of ${clients} connections were closed with 1001`,
    Object.keys(otherCodes).length > 0 && `connections were closed with ${Object.keys(otherCodes).join(', ')}`,
    flatness.late > 0 && `${flatness.late} closes after the window`,
    flatness.deviationPercent > MAX_DEVIATION_PERCENT + stallPercent(fleet) &&
      `the closes of a second deviate by ${flatness.deviationPercent.toFixed(1)} %`,
    !isBack && `${fleet.ready + (resuming?.ready ?? 0)} of ${clients} clients are back`,
    returnMs > MAX_RETURN_MS && `a client was back after ${seconds(returnMs)}`,
    failed.length > 0 && `attempts to reconnect failed with ${failed.join(', ')}`,
    outcome.lagP99Ms > MAX_LAG_MS && `the other pod's loop was ${outcome.lagP99Ms.toFixed(0)} ms late`,
    ...ledgerFaults(fleet),
  ];
  return faults.filter((fault) => fault !== false).map((fault) => `log reader ${logReader}: ${fault}`);
}

/** What the clients' longest stall can move from one second to the next, in percent of a second: they see all closes of a stall at its end. */
function stallPercent({ lagMaxMs }: FleetReport): number {
  return lagMaxMs / 10;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
