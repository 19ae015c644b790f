/** The raw client of the conformance rows, for every test. */
export { handshake, openSocket, subscribeMessage, TRANSPORT_WS } from '../../src/conformance/socket.ts';
export type { Closing, ProtocolMessage, Scope, Socket, SocketOptions } from '../../src/conformance/socket.ts';
