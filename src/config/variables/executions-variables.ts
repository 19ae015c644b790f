import { count, ms, optionalFraction, tunable } from '../variable.ts';

export const executionsVariables = {
  EXECUTION_TIMEOUT_MS: ms(
    1,
    '10000',
    'Longest execution of an event, and `authorize` after changed claims; past that, the operation ends.',
  ),
  MAX_EXECUTIONS: tunable(
    count(1, '5000', 'executions', 'Executions of events in flight on this pod; more wait, and records stay in Kafka.'),
  ),
  SHARING_AUDIT: tunable(
    optionalFraction('Fraction of shared deliveries that are executed again and compared; not set: 0, embedded 0.1.'),
  ),
};
