import type { Change } from './change.ts';
import type { Mutant } from './mutants.ts';

/** A mutant that no test can distinguish from the source. Identified by its text, because line numbers change. */
export interface Equivalent {
  readonly file: string;
  /** The changed lines joined by spaces, as the results show them. */
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'src/bus/redis/message-header.ts',
    before: 'return (this.length = -1);',
    after: 'return (this.length = -0);',
    reason: 'Byte 0 is the "@", which stands neither before a later number or id nor at the end of the line.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: 'return Number.isSafeInteger(number) && number >= 0;',
    after: 'return Number.isSafeInteger(number) && number > 0;',
    reason: 'The general path writes the same bytes, more slowly.',
  },
  {
    file: 'src/bus/redis/redis-history.ts',
    before: 'if (coordinates)',
    after: 'if (true)',
    reason: 'The script gives every entry a header.',
  },
  {
    file: 'src/bus/redis/redis-link.ts',
    before: "if (this.#isUp || this.#status !== 'started') return;",
    after: 'if (this.#isUp) return;',
    reason: 'A probe of a closed link sends nothing; its timer ends 250 ms later.',
  },
  {
    file: 'src/bus/redis/redis-link.ts',
    before: "const isCurrent = stream === this.client.stream && this.client.status === 'ready' && stream.writable;",
    after: 'const isCurrent = stream === this.client.stream && stream.writable;',
    reason:
      'The client was ready when it sent the command on this stream, and stops being ready only when the stream closes.',
  },
  {
    file: 'src/graph/context/fact-reads.ts',
    before: "if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'absent';",
    after: "if (typeof value !== 'object' || value === null) return JSON.stringify(value);",
    reason: 'The key then contains `undefined`, which is no JSON text either.',
  },
  {
    file: 'src/graph/context/fact-reads.ts',
    before: 'isRoot: true,',
    after: 'isRoot: false,',
    reason: 'Without reads, the root flag is not used.',
  },
  {
    file: 'src/graph/context/neutral-scope.ts',
    before: 'const OPTIONS = { requireManualDestroy: true };',
    after: 'const OPTIONS = { requireManualDestroy: false };',
    reason: 'Node then calls `destroy` hooks for each resource, which costs time; there are none.',
  },
  {
    file: 'src/gateway/fanout/outbox/frame.ts',
    before:
      'if (prefix.length !== other.prefix.length || (result !== other.result && !haveSameLengths(result, other.result)))',
    after: 'if (prefix.length !== other.prefix.length || (!haveSameLengths(result, other.result)))',
    reason: 'Identical results have the same lengths; comparing them costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/frame.ts',
    before: 'if (pieces[i] !== other.pieces[i] && pieces[i]!.length !== other.pieces[i]!.length) return false;',
    after: 'if (pieces[i]!.length !== other.pieces[i]!.length) return false;',
    reason: 'Identical pieces have the same length; comparing them costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/frame.ts',
    before: 'if (result !== before) overwritePieces(target, end - result.length, result.pieces, before.pieces);',
    after: 'if (true) overwritePieces(target, end - result.length, result.pieces, before.pieces);',
    reason: 'All pieces are compared, which costs time, and none differs.',
  },
  {
    file: 'src/gateway/fanout/outbox/frame.ts',
    before: 'if (piece !== before[i]) target.set(piece, offset);',
    after: 'if (true) target.set(piece, offset);',
    reason: 'The same bytes are written again, which costs time.',
  },
  {
    file: 'src/gateway/fanout/live-channel.ts',
    before: "const NO_ENTRY: CursorPosition = { epoch: 0, partition: 0, offset: 0, entry: '' };",
    after: "const NO_ENTRY: CursorPosition = { epoch: 1, partition: 0, offset: 0, entry: '' };",
    reason: 'A cursor without an entry names no event, whatever its position.',
  },
  {
    file: 'src/gateway/fanout/live-channel.ts',
    before: "const NO_ENTRY: CursorPosition = { epoch: 0, partition: 0, offset: 0, entry: '' };",
    after: "const NO_ENTRY: CursorPosition = { epoch: 0, partition: 1, offset: 0, entry: '' };",
    reason: 'A cursor without an entry names no event, whatever its position.',
  },
  {
    file: 'src/gateway/fanout/live-channel.ts',
    before: "const NO_ENTRY: CursorPosition = { epoch: 0, partition: 0, offset: 0, entry: '' };",
    after: "const NO_ENTRY: CursorPosition = { epoch: 0, partition: 0, offset: 1, entry: '' };",
    reason: 'A cursor without an entry names no event, whatever its position.',
  },
  {
    file: 'src/gateway/fanout/live-channel.ts',
    before: 'return (this.#entrylessCursor ??= cursors?.sign(this.name, NO_ENTRY));',
    after: 'return (this.#entrylessCursor = cursors?.sign(this.name, NO_ENTRY));',
    reason: 'Signing is deterministic; signing again costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before: '#isPrompt = true;',
    after: '#isPrompt = false;',
    reason: 'The first write then allocates its own memory, which costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before: 'return this.#bytesInFlight > 0;',
    after: 'return this.#bytesInFlight > 1;',
    reason: 'A frame has two bytes or more.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before: 'this.#stream.cork();',
    after: '',
    reason: 'The stream then writes each piece separately, which takes more system calls.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before: 'this.#framesOf(next === messages.length ? messages : messages.slice(0, next), bytes),',
    after: 'this.#framesOf(false ? messages : messages.slice(0, next), bytes),',
    reason: 'A copy of the list has the same messages.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before:
      'if (!isAccepted) this.#messages = this.#messages?.map((message) => ({ ...message, result: message.result.whole }));',
    after:
      'if (true) this.#messages = this.#messages?.map((message) => ({ ...message, result: message.result.whole }));',
    reason: 'Joining the pieces gives the same bytes and costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before: 'if (this.#isPrompt) return this.#writer.scratch.write(messages, bytes, this.format.hasFrames);',
    after: 'if (false) return this.#writer.scratch.write(messages, bytes, this.format.hasFrames);',
    reason: 'Separate memory gets the same bytes and costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/outbox.ts',
    before: 'if (this.#isPrompt) this.#writer.scratch.detach();',
    after: 'if (true) this.#writer.scratch.detach();',
    reason: 'The next write allocates a page, which costs time.',
  },
  {
    file: 'src/gateway/fanout/outbox/scratch.ts',
    before: 'if (hasFrames === page.hasFrames && haveEqualLayout(messages, page.messages))',
    after: 'if (false)',
    reason: 'All bytes are written instead of only those that differ, which costs time.',
  },
  {
    file: 'src/gateway/fanout/sharing/sharing-audit.ts',
    before: 'clearTimeout(timer);',
    after: '',
    reason: 'The timer is unreferenced, and the wait that it would end is over.',
  },
  {
    file: 'src/gateway/fanout/sharing/sharing-group.ts',
    before: 'if (classes === this.expected) return classes;',
    after: 'if (false) return classes;',
    reason: 'The new list equals the existing one.',
  },
  {
    file: 'src/gateway/fanout/scheduling/turn-slices.ts',
    before: '#endsAt = 0;',
    after: '#endsAt = 1;',
    reason: 'A turn sets the field before it is read.',
  },
  {
    file: 'src/gateway/fanout/scheduling/turn-slices.ts',
    before: '#hasOneJob = false;',
    after: '#hasOneJob = true;',
    reason: 'Before the first turn only `finish` runs jobs, and it flushes anyway.',
  },
  {
    file: 'src/gateway/fanout/scheduling/turn-slices.ts',
    before: 'readonly #isSpent = (): boolean => performance.now() >= this.#endsAt;',
    after: 'readonly #isSpent = (): boolean => performance.now() > this.#endsAt;',
    reason: 'The clock hits the end of a slice exactly only by chance.',
  },
  {
    file: 'src/gateway/fanout/outbox/writer.ts',
    before: 'if (this.#isScheduled) return;',
    after: 'if (false) return;',
    reason: 'A turn with nothing to write has no effect.',
  },
  {
    file: 'src/gateway/fanout/outbox/writer.ts',
    before: 'this.#isScheduled = true;',
    after: '',
    reason: 'A turn with nothing to write has no effect.',
  },
  {
    file: 'src/gateway/fanout/outbox/writer.ts',
    before: 'this.#isScheduled = true;',
    after: 'this.#isScheduled = false;',
    reason: 'A turn with nothing to write has no effect.',
  },
  {
    file: 'src/gateway/fanout/outbox/writer.ts',
    before: 'if (written % WRITES_BETWEEN_CHECKS === 0 && performance.now() >= endsAt) break;',
    after: 'if (written % WRITES_BETWEEN_CHECKS === 0 && performance.now() > endsAt) break;',
    reason: 'The clock hits the end of a slice exactly only by chance.',
  },
  {
    file: 'src/gateway/fanout/outbox/writer.ts',
    before: 'if (written === outboxes.length) outboxes.length = 0;',
    after: 'if (false) outboxes.length = 0;',
    reason: 'The general path also removes all of them, more slowly.',
  },
  {
    file: 'src/gateway/fanout/outbox/writer.ts',
    before: 'if (!largest || outbox.queuedBytes > largest.queuedBytes) largest = outbox;',
    after: 'if (!largest || outbox.queuedBytes >= largest.queuedBytes) largest = outbox;',
    reason: 'Of two outboxes of equal size, either may be closed.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: 'const INITIAL_BYTES = 64 * 1024;',
    after: 'const INITIAL_BYTES = 63 * 1024;',
    reason: 'The memory grows when it is too small.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: 'if (needed <= this.#memory.length) return;',
    after: 'if (needed < this.#memory.length) return;',
    reason: 'Memory that is just large enough is replaced by larger memory.',
  },
  {
    file: 'src/bus/redis/message-header.ts',
    before: 'if (message[0] === AT_SIGN) {',
    after: 'if (true) {',
    reason: 'The header parser also rejects a message without "@", more slowly.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: 'const FRAME_BYTES = 32;',
    after: 'const FRAME_BYTES = 31;',
    reason: 'No length needs more than 21 bytes.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: 'const PAIR_BYTES = 33;',
    after: 'const PAIR_BYTES = 32;',
    reason: 'FRAME_BYTES includes spare bytes.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: '#length = 0;',
    after: '#length = 1;',
    reason: '`begin` sets the length.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: "this.#length += this.#memory.write(text, this.#length, length === text.length ? 'latin1' : 'utf8');",
    after: "this.#length += this.#memory.write(text, this.#length, false ? 'latin1' : 'utf8');",
    reason: 'The general path writes the same bytes, more slowly.',
  },
  {
    file: 'src/bus/redis/command-writer.ts',
    before: 'if (!isPlain(first) || !isPlain(second)) return this.text(`${first} ${second}`);',
    after: 'if (true) return this.text(`${first} ${second}`);',
    reason: 'The general path writes the same bytes, more slowly.',
  },
  {
    file: 'src/gateway/websocket/connection-socket.ts',
    before: 'return receiver !== null && (receiver._totalPayloadLength > 0 || receiver._fragmented !== 0);',
    after: 'return (receiver._totalPayloadLength > 0 || receiver._fragmented !== 0);',
    reason: 'A socket has its receiver before the gateway has the socket, and keeps it.',
  },
  {
    file: 'src/gateway/websocket/connection-socket.ts',
    before: 'if (isBinary) listener?.onBinaryMessage();',
    after: 'if (isBinary) listener.onBinaryMessage();',
    reason: 'No event is emitted before there is a listener.',
  },
  {
    file: 'src/gateway/websocket/connection-socket.ts',
    before: 'else listener?.onMessageFrame(data as Buffer);',
    after: 'else listener.onMessageFrame(data as Buffer);',
    reason: 'No event is emitted before there is a listener.',
  },
  {
    file: 'src/gateway/websocket/connection-socket.ts',
    before: '(this as ConnectionSocket).#listener?.onControlFrame();',
    after: '(this as ConnectionSocket).#listener.onControlFrame();',
    reason: 'No event is emitted before there is a listener.',
  },
  {
    file: 'src/gateway/websocket/connection-socket.ts',
    before: '(this as ConnectionSocket).#listener?.onError(error);',
    after: '(this as ConnectionSocket).#listener.onError(error);',
    reason: 'No event is emitted before there is a listener.',
  },
  {
    file: 'src/gateway/websocket/connection-socket.ts',
    before: '(this as ConnectionSocket).#listener?.onClosed(code);',
    after: '(this as ConnectionSocket).#listener.onClosed(code);',
    reason: 'No event is emitted before there is a listener.',
  },
  {
    file: 'src/gateway/websocket/peer-silence.ts',
    before: '#sweptBytes = -1;',
    after: '#sweptBytes = -0;',
    reason: 'The handshake has bytes, so the byte count of the stream is never 0.',
  },
  {
    file: 'src/gateway/connections/client-connection.ts',
    before: '#closeCode = 0;',
    after: '#closeCode = 1;',
    reason: 'The code is read only after the connection has ended, which sets it.',
  },
  {
    file: 'src/gateway/websocket/connection.ts',
    before: 'if (this.#socket.readyState === WebSocket.OPEN) {',
    after: 'if (true) {',
    reason: 'ws closes a socket once, and the outbox writes only to an open socket.',
  },
  {
    file: 'src/gateway/operations/connection-operations.ts',
    before: 'if (this.#live.get(operation.id) === operation) this.#delete(operation.id);',
    after: 'if (true) this.#delete(operation.id);',
    reason: 'An operation whose id was reused has ended and sends nothing, or was refused while the id was free.',
  },
  {
    file: 'src/gateway/websocket/connection-identity.ts',
    before: 'return this.#facts?.id ?? this.#request?.id;',
    after: 'return this.#facts?.id ?? this.#request.id;',
    reason: 'Without a request there are facts.',
  },
  {
    file: 'src/gateway/websocket/gateway.ts',
    before: 'clientTracking: false,',
    after: 'clientTracking: true,',
    reason: 'Nothing reads the client set of ws.',
  },
  {
    file: 'src/gateway/operations/held-bytes.ts',
    before: 'if (bytes <= maxBytes) return true;',
    after: 'if (false) return true;',
    reason: 'The general path gives the same answer, more slowly.',
  },
  {
    file: 'src/gateway/connections/connections.ts',
    before: 'this.#sweep = setInterval(this.#onTick, Math.max(1, sweepIntervalMs / SWEEP_SLOTS));',
    after: 'this.#sweep = setInterval(this.#onTick, Math.max(0, sweepIntervalMs / SWEEP_SLOTS));',
    reason: 'Node.js raises shorter intervals to 1 ms.',
  },
  {
    file: 'src/gateway/websocket/gateway.ts',
    before: 'this.#webSockets.close();',
    after: '',
    reason: 'No upgrade reaches the server any more.',
  },
  {
    file: 'src/gateway/websocket/gateway.ts',
    before: "if (request.url?.split('?', 1)[0] !== path) {",
    after: "if (request.url.split('?', 1)[0] !== path) {",
    reason: 'A request that a server receives has a URL.',
  },
  {
    file: 'src/gateway/connections/init-deadlines.ts',
    before: 'this.#deadlines.clear();',
    after: '',
    reason: 'Without the timer no deadline is checked.',
  },
  {
    file: 'src/gateway/connections/init-deadlines.ts',
    before: 'if (deadline - now > 1) {',
    after: 'if (deadline - now >= 1) {',
    reason: 'The timer is at most 1 ms longer.',
  },
  {
    file: 'src/gateway/connections/init-deadlines.ts',
    before: 'if (deadline - now > 1) {',
    after: 'if (deadline - now > 0) {',
    reason: 'The timer is at most 1 ms longer.',
  },
  {
    file: 'src/gateway/operations/live-operation.ts',
    before: 'this.#leave = undefined;',
    after: '',
    reason: 'Cancelling finished work has no effect.',
  },
  {
    file: 'src/gateway/websocket/transport-ws.ts',
    before:
      "if ('id' in message && typeof message.id === 'string' && Buffer.byteLength(message.id) > maxIdBytes) return undefined;",
    after: "if (typeof message.id === 'string' && Buffer.byteLength(message.id) > maxIdBytes) return undefined;",
    reason: 'An absent id is not a string.',
  },
  {
    file: 'src/base/limits/rate-limit.ts',
    before: '#refilledAt = 0;',
    after: '#refilledAt = 1;',
    reason: 'The bucket starts full, so the first refill has no effect.',
  },
  {
    file: 'src/gateway/connections/sweep-ring.ts',
    before: '#added = 0;',
    after: '#added = 1;',
    reason: 'The first slot may be any slot.',
  },
  {
    file: 'src/gateway/connections/sweep-ring.ts',
    before: '#visited = 0;',
    after: '#visited = 1;',
    reason: 'The first slot may be any slot.',
  },
];

export function equivalentOf(
  mutant: Mutant,
  change: Change,
  equivalents: readonly Equivalent[] = EQUIVALENTS,
): Equivalent | undefined {
  return equivalents.find(
    ({ file, before, after }) =>
      file === mutant.file && before === change.before.join(' ') && after === change.after.join(' '),
  );
}
