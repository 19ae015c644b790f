import { protocolRows } from '../../../../src/tools/conformance/protocol-rows.ts';
import type { ProbeRow } from './probe-stage.ts';

/** Rows with settings of their own, and rows that show the outcome of an attack. */
const OWN = [
  {
    id: 'C-09',
    title: 'closes a client that sends nothing with 4408 after the init timeout (S-11)',
    settings: { INIT_TIMEOUT_MS: '400' },
  },
  { id: 'X-45', title: 'closes with 1007 at a text frame that is not UTF-8 (S-34)' },
  { id: 'X-46', title: 'closes with 1002 at reserved bits, an unmasked frame and a reserved opcode (S-35)' },
];

/** Rows that `crier bench` runs, too. */
export const sharedRows: readonly ProbeRow[] = protocolRows.map((row) => ({
  ...row,
  ...OWN.find(({ id }) => id === row.id),
}));
