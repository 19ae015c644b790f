import { stopSignal } from '../deploy/stop-signal.ts';

/**
 * Runs a command until it ends or is told to stop: with the code that it gives, else `process.exitCode`; with 1 and a line where
 * it failed, with 130 where it was stopped.
 */
export function runCommand(name: string, main: (signal: AbortSignal) => Promise<number | void>): void {
  const signal = stopSignal();
  main(signal).then(
    // Signal handlers stay, but nothing else may keep this process.
    (code) => process.exit(code ?? process.exitCode),
    (error: unknown) => {
      say(`${name}: ${(signal.aborted ? (signal.reason as Error) : (error as Error)).message}`);
      process.exit(signal.aborted ? 130 : 1);
    },
  );
}

/** A line for whoever watches; standard output is for results. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
