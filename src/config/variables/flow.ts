import { bytes, ms } from '../variable.ts';

export const flowVariables = {
  FLOW_TARGET_MS: ms(
    0,
    '400',
    'Longest wait of a published message for its gateway; further records stay in Kafka. 0: no flow control.',
  ),
  FLOW_TARGET_BYTES: bytes(
    65_536,
    '8388608',
    'Most bytes of a partition on their way to a gateway; further records stay in Kafka.',
  ),
  FLOW_PATIENCE_MS: ms(100, '5000', 'Time without progress after which workers no longer wait for a gateway.'),
};
