/** The raw client of the conformance rows, for every test. */
export { handshake } from '../../src/tools/conformance/handshake.ts';
export { subscribeMessage, TRANSPORT_WS } from '../../src/tools/conformance/message.ts';
export type { ProtocolMessage } from '../../src/tools/conformance/message.ts';
export { openSocket } from '../../src/tools/conformance/socket.ts';
export type { Closing, Scope, Socket, SocketOptions } from '../../src/tools/conformance/socket.ts';
