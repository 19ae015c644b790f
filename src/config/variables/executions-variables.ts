import { count, ms, optionalFraction, tunable } from '../variable.ts';

export const executionsVariables = {
  EXECUTION_TIMEOUT_MS: ms(
    1,
    '10000',
    'Longest execution of an event, and longest `authorize` after claims have changed; past that, the operation ends and the others continue.',
  ),
  MAX_EXECUTIONS: tunable(
    count(
      1,
      '5000',
      'executions',
      'Executions of events that are in flight on this pod; more wait, and records stay in Kafka.',
    ),
  ),
  SHARING_AUDIT: tunable(
    optionalFraction(
      'Fraction of the shared deliveries that are executed again and compared; not set: 0.1 embedded, else 0.',
    ),
  ),
};
