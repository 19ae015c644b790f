import { drive } from './fleet.js';

/** @param {number} seed */
export function* records(seed) {
  for (const record of drive(seed)) yield { topic: 'vehicles', ...record };
}

export const operation = `subscription {
  vehiclesMoved(kinds: [TRAM], north: 50.0) {
    id
    lat
    lng
    speed
  }
}
`;
