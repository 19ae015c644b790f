import { createServer } from 'node:http';

/** A backend that answers each request after `ANSWER_MS` with the caller's port, which names the socket. */
const answerMs = Number(process.env['ANSWER_MS']);
createServer((request, response) => {
  setTimeout(() => {
    response.setHeader('content-type', 'application/json');
    response.end(String(request.socket.remotePort));
  }, answerMs);
}).listen(Number(process.env['PORT']), '127.0.0.1');
