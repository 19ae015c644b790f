import { count, ms, tunable } from '../variable.ts';

export const backendsVariables = {
  BACKEND_TIMEOUT_MS: ms(1, '5000', "Longest wait for a backend's whole answer, while the event loop is not blocked."),
  BACKEND_MAX_SOCKETS: tunable(
    count(1, '50', 'sockets', 'Requests in flight per backend, each on a keep-alive socket.'),
  ),
};
