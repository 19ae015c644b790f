/** What was done against a shortage. */
export interface Relief {
  /** Connections that were closed. */
  readonly closed: number;
  /** Bytes that they held. */
  readonly bytes: number;
}

/** Frees `bytes` bytes, or as many as it can. */
export type Relieve = (bytes: number) => Relief;

/** Where each room asks for the memory's state, and registers what frees some. */
export interface MemoryPressure {
  /** True while new clients should go elsewhere. It has a hysteresis, so that readiness does not flap. */
  readonly isShort: boolean;
  /** Registers what is called while memory is very short. Each frees what those before it have left. */
  onPressure(relieve: Relieve): void;
}
