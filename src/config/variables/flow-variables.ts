import { ms } from '../variable.ts';

export const flowVariables = {
  FLOW_TARGET_MS: ms(
    0,
    '400',
    'Longest wait of a published message for its gateway; further records stay in Kafka. 0: no flow control.',
  ),
};
