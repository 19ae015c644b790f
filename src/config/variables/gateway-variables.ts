import { bool, bytes, count, list, ms, text, tunable } from '../variable.ts';

export const gatewayVariables = {
  ALLOWED_ORIGINS: list(
    '',
    'origins such as https://app.example.com or capacitor://localhost, or *',
    "Browser origins beside the server's own; `*`: all.",
  ),
  PUBLIC_ORIGIN: text(
    '',
    'an origin such as https://api.example.com',
    'Origin under which browsers reach the server; requests for another Host get 421; not set: open to DNS rebinding, so set it in production.',
  ),
  CALLBACK_URLS: list(
    '',
    'http:// or https:// URLs without user, password and query, with a path, such as https://router.example.com:4000/callback or http://*.routers.default.svc:4000/callback, separated by commas',
    'Routers to which results may be posted (HTTP callback protocol): each URL, and paths below it; `*.` stands for one label of the host, before two or more; not set: none.',
  ),
  INIT_TIMEOUT_MS: ms(
    1,
    '5000',
    "Longest wait for `connection_init`, and then, at least 5 s, for the token's key and `authenticate`.",
  ),
  PING_INTERVAL_MS: ms(
    0,
    '12000',
    'Interval of WebSocket pings (a silent peer is disconnected within two) and of comments on streams; 0: none.',
  ),
  KEEP_ALIVE_TIMEOUT_MS: ms(
    1000,
    '5000',
    'Time after which an idle HTTP connection is closed, longer than that of a load balancer that keeps connections.',
  ),
  MAX_CONNECTION_AGE_MS: ms(
    0,
    '0',
    'Age, ± 10 %, at which a connection is closed with 1001, to reconnect to any pod; 0: never.',
  ),
  MAX_CONNECTIONS: tunable(
    count(
      0,
      '0',
      'connections',
      'WebSockets and streams; more are refused (1013, 503); 0: as many as the limit of open files allows.',
    ),
  ),
  MAX_CONNECTIONS_PER_USER: count(
    0,
    '100',
    'connections',
    'WebSockets and streams of one `iss` and `sub` on a pod; past that, an idle one makes room, or the new one is refused; 0: no limit.',
  ),
  MAX_CONNECTIONS_PER_ADDRESS: count(
    0,
    '0',
    'connections',
    'WebSockets and streams of one client address on a pod; more are refused; 0: no limit.',
  ),
  TRUSTED_PROXIES: list(
    '',
    'addresses or ranges such as 10.0.0.0/8, separated by commas',
    "Proxies whose X-Forwarded-For names the client, their addresses and nobody else's: anyone in the range can name any client; not set: the peer is the client.",
  ),
  ROUTERS: list(
    '',
    'claims of tokens such as role:router, or addresses or ranges such as 10.0.0.0/8, separated by commas',
    'Routers that subscribe for many users, by a claim of their token (written as in `JWT_REQUIRE`; one is enough) or by address: they have 100 times the limits of a connection, and none of a user or address.',
  ),
  MAX_HANDSHAKES_PER_SECOND: tunable(
    count(
      0,
      '0',
      'handshakes/s',
      'Sustained WebSocket handshakes and requests for streams; more are refused; 0: no limit.',
    ),
  ),
  MAX_REQUESTS_IN_FLIGHT: count(
    0,
    '1000',
    'requests',
    'HTTP requests in flight on a pod (more get 503); of one user a tenth, and as many a second, at least 100, 10 s of them at once (429); without a user half where tokens are accepted; 0: no limit, of one user 100.',
  ),
  MAX_REQUESTS_PER_SECOND_PER_ADDRESS: count(
    0,
    '0',
    'requests/s',
    'Sustained HTTP requests without a user from one client address; if set, a tenth of `MAX_REQUESTS_IN_FLIGHT` is the most that they may have in flight; more get 429; 0: no limit.',
  ),
  MAX_HEAP_PERCENT: tunable(
    count(
      0,
      '80',
      '%',
      "Use of the heap, or of the container's memory, from which new sockets are closed with 1013; 0: never.",
      99,
    ),
  ),
  MAX_MESSAGE_BYTES: bytes(1024, '65536', 'Largest message from a client.'),
  MAX_MESSAGES_PER_SECOND: count(1, '20', 'messages/s', 'Sustained messages per connection; others wait.'),
  MAX_OPERATIONS_PER_CONNECTION: tunable(
    count(
      1,
      '100',
      'operations',
      'Live operations of one connection; of one `iss` and `sub` on a pod 10 times as many.',
    ),
  ),
  MAX_QUEUE_BYTES: tunable(
    bytes(
      1024,
      '1048576',
      'Bytes that may wait for a client that reads slowly, or 4 times the largest message that waits if that is more; past that, its connection is closed with 1013.',
    ),
  ),
  MAX_POD_QUEUE_BYTES: tunable(
    bytes(1024, '268435456', 'Bytes waiting for all connections; past that, the largest queues are closed with 1013.'),
  ),
  COMPRESSION: bool(
    'false',
    'Whether WebSockets that offer permessage-deflate get compressed results, a shared one compressed once.',
  ),
};
