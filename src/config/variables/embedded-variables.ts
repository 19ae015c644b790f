import { ms } from '../variable.ts';

export const embeddedVariables = {
  SAMPLE_INTERVAL_MS: ms(1, '500', 'Embedded: pause between sample records.'),
};
