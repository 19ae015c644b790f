import { describe } from 'node:test';
import { itLosesNothingByExpiry } from './expiry.ts';
import { installRelay } from './relay.ts';

// The others are in test/docs: this one installs packages.
describe('a stock client that sends its cursor', () => {
  itLosesNothingByExpiry('Relay', installRelay);
});
