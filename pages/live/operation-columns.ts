import { count, milliseconds, perSecond } from './format.ts';
import type { OperationStats } from './stats.ts';

export type ColumnName = Exclude<keyof OperationStats, 'document' | 'operation' | 'field'>;

export interface Column {
  readonly name: ColumnName;
  readonly title: string;
  readonly format: (value: number | null) => string;
}

export const COLUMNS: readonly Column[] = [
  { name: 'deliveries_per_second', title: 'Deliveries', format: perSecond },
  { name: 'executions_per_second', title: 'Executions', format: perSecond },
  { name: 'execution_ms_per_second', title: 'Time in 1 s', format: milliseconds },
  { name: 'errors_per_second', title: 'Errors', format: perSecond },
  { name: 'subscriptions', title: 'Live', format: count },
];
