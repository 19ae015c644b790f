import { Command } from 'ioredis';

const DOLLAR = 0x24;
const ASTERISK = 0x2a;
const SPACE = 0x20;
const ZERO = 0x30;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

const INITIAL_BYTES = 64 * 1024;
/** Most bytes of an argument beside its text: `$`, its length, and two line ends. */
const FRAME_BYTES = 32;
/** Of two numbers of 16 digits and the space between. */
const PAIR_BYTES = 33;

/**
 * Writes a command in Redis's protocol (https://redis.io/docs/latest/develop/reference/protocol-spec/) into memory that the next
 * command reuses. ioredis builds one string of all arguments and encodes it into new memory each time: for a publish of 500 records of 2 KB
 * that costs this process 5.0 µs of CPU a record, and this writer 2.5 µs (for 16 records 6.2 and 4.7; Node 20, 2-core x86-64).
 */
export class CommandWriter {
  #memory = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #length = 0;

  /** Of its memory. */
  get size(): number {
    return this.#memory.length;
  }

  /** The command so far; valid until the next `begin`. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** @param parts count of the arguments that follow, the command's name included */
  begin(parts: number): void {
    this.#length = 0;
    this.#frame(ASTERISK, parts);
  }

  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.#makeRoom(length + FRAME_BYTES);
    this.#frame(DOLLAR, length);
    // Where there are as many bytes as characters all are ASCII, which is copied faster than it is encoded.
    this.#length += this.#memory.write(text, this.#length, length === text.length ? 'latin1' : 'utf8');
    this.#endLine();
  }

  buffer(bytes: Buffer): void {
    this.#makeRoom(bytes.length + FRAME_BYTES);
    this.#frame(DOLLAR, bytes.length);
    this.#length += bytes.copy(this.#memory, this.#length);
    this.#endLine();
  }

  /** One text of two numbers, `17 1763730000000`. */
  pair(first: number, second: number): void {
    if (!isPlain(first) || !isPlain(second)) return this.text(`${first} ${second}`);
    this.#makeRoom(PAIR_BYTES + FRAME_BYTES);
    const firstDigits = digitsOf(first);
    const secondDigits = digitsOf(second);
    this.#frame(DOLLAR, firstDigits + 1 + secondDigits);
    this.#number(first, firstDigits);
    this.#memory[this.#length++] = SPACE;
    this.#number(second, secondDigits);
    this.#endLine();
  }

  #frame(type: number, value: number): void {
    this.#memory[this.#length++] = type;
    this.#number(value, digitsOf(value));
    this.#endLine();
  }

  #number(value: number, digits: number): void {
    const memory = this.#memory;
    const start = this.#length;
    for (let at = start + digits - 1; at >= start; at--) {
      const rest = Math.floor(value / 10);
      memory[at] = ZERO + (value - rest * 10);
      value = rest;
    }
    this.#length = start + digits;
  }

  #endLine(): void {
    this.#memory[this.#length++] = CARRIAGE_RETURN;
    this.#memory[this.#length++] = LINE_FEED;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#memory.length) return;
    const before = this.bytes;
    this.#memory = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length));
    before.copy(this.#memory);
  }
}

/** A command of which ioredis writes these bytes. Its reply has Buffers for texts. */
export class WrittenCommand extends Command {
  readonly #bytes: Buffer;

  /** @param name as it is in the bytes */
  constructor(name: string, bytes: Buffer) {
    super(name, [], { replyEncoding: null });
    this.#bytes = bytes;
  }

  override toWritable(): Buffer {
    return this.#bytes;
  }
}

/** True if the number's text has only digits. */
function isPlain(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}
