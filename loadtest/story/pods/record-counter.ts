import { createServer } from 'node:http';

/** Serves `GET /metrics` on `ADMIN_PORT` for other servers than crier. Returns a function that counts one record. */
export function serveRecordCounter(): () => void {
  let records = 0;
  createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE crier_records_consumed_total counter\ncrier_records_consumed_total ${records}\n`);
  }).listen(Number(process.env['ADMIN_PORT']), '127.0.0.1');
  return () => void records++;
}
