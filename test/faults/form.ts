/** Whether the faults last as long as the promises say (`npm run test:faults`); otherwise as long as shows them at work. */
export const isFull = process.env['TEST_FAULTS'] === 'full';
