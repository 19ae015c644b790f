import { Socket } from 'node:net';
import { monotonicMs } from '../monotonic.ts';

/** One result on its way: which, and when it was handed to the kernel. */
export type Write = readonly [version: number, atMs: number];

const VERSION = '"version":';
/** Of a write, where a result's first fields are. */
const LOOKED_AT_BYTES = 4096;

/** When this server hands each result that contains `marker` to the kernel: what comes after that is the kernel's doing, and the client's. */
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

  /** Since the call before. */
  read(): Write[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  #onWrite(data: unknown, marker: string): void {
    if (!Buffer.isBuffer(data)) return;
    const start = data.subarray(0, LOOKED_AT_BYTES);
    if (!start.includes(marker)) return;
    const at = start.indexOf(VERSION) + VERSION.length;
    this.#writes.push([Number.parseInt(start.toString('latin1', at, at + 24), 10), monotonicMs()]);
  }
}
