import fc from 'fast-check';

const name = fc.constantFrom(
  'server_no_context_takeover',
  'client_no_context_takeover',
  'server_max_window_bits',
  'client_max_window_bits',
  'x',
  '',
);
const value = fc.constantFrom('', '=', '=8', '=9', '=12', '=15', '=16', '="10"', '="', '=-1', '=1e1', '=x', '=08');
const parameter = fc.tuple(name, value).map((parts) => parts.join(''));
const extension = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fc.constant('permessage-deflate') }, fc.constantFrom('x', '', 'permessage-bzip2')),
    fc.array(parameter, { maxLength: 3 }),
  )
  .map(([token, parameters]) => [token, ...parameters].join('; '));
const valid = fc
  .subarray(['server_no_context_takeover', 'client_no_context_takeover', 'client_max_window_bits'])
  .map((parameters) => ['permessage-deflate', ...parameters].join('; '));
const characters = fc.string({ unit: fc.constantFrom(...'permessage-deflate;=," \t_15'), maxLength: 40 });

/** Values of the header Sec-WebSocket-Extensions, most of them malformed. */
export const offers = fc.oneof(
  valid,
  fc.array(extension, { minLength: 1, maxLength: 3 }).map((list) => list.join(', ')),
  characters,
);
