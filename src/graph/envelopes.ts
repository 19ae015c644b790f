import type { ReadChange } from '../bus/row-change.ts';

export type { ReadChange, RowChange } from '../bus/row-change.ts';

/** The envelopes that a graph brings, by their names in the schema, such as MAXWELL: functions of its `envelopes.ts`. */
export type Envelopes = Readonly<Record<string, ReadChange>>;
