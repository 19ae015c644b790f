import { createServer } from 'node:http';

/**
 * For pods that are not crier: `GET /metrics` on `ADMIN_PORT` with how many records they took from Kafka. Returns what counts one.
 */
export function serveRecordCounter(): () => void {
  let records = 0;
  createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE crier_records_consumed_total counter\ncrier_records_consumed_total ${records}\n`);
  }).listen(Number(process.env['ADMIN_PORT']), '127.0.0.1');
  return () => void records++;
}
