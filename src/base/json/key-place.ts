/**
 * A place in the payloads of a topic: the whole payload, or the values of a key of another place. Items of an array are at the place of the
 * array. Types may contain themselves, so places may be in cycles.
 */
export interface KeyPlace {
  /** True: objects here and below keep their keys. False: objects here are renamed. */
  readonly keepsKeys: boolean;
  /** By name in the payload: the places below that keep keys, or that lead to one. */
  readonly below: ReadonlyMap<string, KeyPlace>;
}
