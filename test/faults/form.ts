/** Whether faults last as long as the guarantees state (`npm run test:faults`). Otherwise they are short. */
export const isFull = process.env['TEST_FAULTS'] === 'full';
