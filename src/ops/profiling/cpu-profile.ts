/** The output of V8's profiler (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile). */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** Time in µs since the previous sample; for the first one, since the start. */
  readonly timeDeltas: readonly number[];
  /** In µs, of V8's clock. */
  readonly startTime?: number;
  readonly endTime?: number;
}

export interface CpuProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  /** Samples of the call itself, without its callees. */
  readonly hitCount?: number | undefined;
  readonly children?: readonly number[] | undefined;
}

export interface CallFrame {
  /** DevTools need one. */
  readonly scriptId?: string;
  readonly functionName: string;
  /** '' for V8's own work and for code compiled from text. */
  readonly url: string;
  /** The first line and column are 0. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}
