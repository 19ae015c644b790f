import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DRIVERS } from '../clients/drivers.ts';
import { COLUMNS } from '../clients/matrix.ts';
import { rowsOfPage } from '../clients/page-table.ts';

it('docs/reference/clients.md has each client that the matrix runs, and no empty cell', async () => {
  const rows = await rowsOfPage();
  // The versions of Debian's programs are those of the machine that wrote the page.
  const clients = DRIVERS.map(({ name, version, transport, isOfMachine }, index) => [
    isOfMachine ? rows[index]?.client : `${name} ${version()}`,
    transport,
  ]);
  assert.deepEqual(
    rows.map(({ client, transport }) => [client, transport]),
    clients,
  );
  for (const [index, row] of rows.entries()) {
    assert.ok(row.client.startsWith(`${DRIVERS[index]!.name} `), row.client);
    for (const column of COLUMNS) assert.notEqual(row[column], '', `${row.client}: ${column}`);
  }
});
