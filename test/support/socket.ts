/** The raw client of the conformance rows, for every test. */
export { handshake } from '../../src/conformance/handshake.ts';
export { subscribeMessage, TRANSPORT_WS } from '../../src/conformance/message.ts';
export type { ProtocolMessage } from '../../src/conformance/message.ts';
export { openSocket } from '../../src/conformance/socket.ts';
export type { Closing, Scope, Socket, SocketOptions } from '../../src/conformance/socket.ts';
