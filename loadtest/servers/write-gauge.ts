import { Socket } from 'node:net';
import { monotonicMs } from '../processes/process-usage.ts';

/** Version of a result, and the time at which it was handed to the kernel. */
export type Write = readonly [version: number, atMs: number];

const VERSION = '"version":';
/** The first bytes of a write, which hold a result's first fields. Only they are searched. */
const SEARCHED_BYTES = 4096;

/** Records when this server hands each result that contains `marker` to the kernel. */
export class WriteGauge {
  #writes: Write[] = [];

  constructor(marker: string) {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its socket below
    const write = Socket.prototype._write;
    const onWrite = (data: unknown) => this.#onWrite(data, marker);
    Socket.prototype._write = function (...parameters) {
      write.apply(this, parameters);
      onWrite(parameters[0]);
    };
  }

  /** Returns the writes since the previous call. */
  read(): Write[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  #onWrite(data: unknown, marker: string): void {
    if (!Buffer.isBuffer(data)) return;
    const start = data.subarray(0, SEARCHED_BYTES);
    if (!start.includes(marker)) return;
    const at = start.indexOf(VERSION) + VERSION.length;
    this.#writes.push([Number.parseInt(start.toString('latin1', at, at + 24), 10), monotonicMs()]);
  }
}
