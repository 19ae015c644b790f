import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { MAX_RECORD_DEPTH } from '../../config/limits.ts';
import { didYouMean } from '../../base/did-you-mean.ts';
import { SetupError } from '../../base/errors.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { isJsonObject, jsonKind } from '../../base/json/json-object.ts';
import { standardInput } from '../standard-input.ts';
import { recognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { decodeJson } from '../../kafka/decoding/record.ts';
import type { DecodeReason, RecordLimits } from '../../kafka/decoding/record.ts';
import type { ReadRecord } from './seen-topic.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_RECORDS = 1000;
const TOO_DEEP = `more than ${MAX_RECORD_DEPTH} levels`;

/** A record in the file, and where it is. */
interface Sample {
  /** undefined: it has more levels than can be written. */
  readonly text: string | undefined;
  readonly location: string;
}

/**
 * Reads sample records: one JSON object, an array of them, or an object on each line. Skips null, as crier skips records without a value.
 * @param file `-`: standard input
 * @throws SetupError for anything else, naming its line or item
 */
export async function readSampleFile(file: string, limits: RecordLimits): Promise<readonly ReadRecord[]> {
  const content = (await contentOf(file)).replace(/^\uFEFF/, '');
  const name = file === '-' ? 'standard input' : file;
  if (content.trim() === '') throw new SetupError(`${name}: is empty; expected JSON objects, as producers write them`);
  const records = samplesOf(content).flatMap(({ text: json, location }): ReadRecord[] => {
    if (json === undefined) throw new SetupError(`${name}, ${location}: ${TOO_DEEP}`);
    if (json.trim() === 'null') return [];
    const { json: value, poison } = decodeJson(Buffer.from(json), limits);
    const isRecord = isJsonObject(value) || recognisedEnvelope(value) !== undefined;
    const reason = poison ?? (isRecord ? undefined : 'not_object');
    if (reason !== undefined) throw new SetupError(`${name}, ${location}: ${whyNot(json, reason)}`);
    return [{ key: undefined, value }];
  });
  if (records.length === 0) throw new SetupError(`${name}: has no record with a value; expected JSON objects`);
  return records;
}

async function contentOf(file: string): Promise<string> {
  try {
    const content = await (file === '-' ? text(standardInput('sample records')) : readFile(file, 'utf8'));
    if (content.length <= MAX_BYTES) return content;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isFolder = code === 'EISDIR';
    const what = isFolder ? `${file} is a folder; name a file of records` : message;
    throw new SetupError(`--sample: ${code === 'ENOENT' ? await missing(file) : what}`, { cause: error });
  }
  throw new SetupError(`--sample: ${file} has more than 64 MB; a hundred records are enough`);
}

/** Says that a file is absent, and which one beside it may be meant. */
async function missing(file: string): Promise<string> {
  const names = await readdir(dirname(file)).catch(() => []);
  return `there is no file ${file}${didYouMean(basename(file), names)}`;
}

function samplesOf(content: string): readonly Sample[] {
  let json: unknown;
  try {
    json = parseExactly(content);
  } catch {
    const lines = content.split('\n').map((line, i) => ({ text: line, location: `line ${i + 1}` }));
    return lines.filter(({ text: line }) => line.trim() !== '').slice(0, MAX_RECORDS);
  }
  if (!Array.isArray(json)) return [{ text: content, location: 'the value' }];
  return json.slice(0, MAX_RECORDS).map((item, i) => ({ text: jsonOf(item), location: `item ${i + 1}` }));
}

/** undefined: the value has too many levels for the stack of JSON.stringify, though not for JSON.parse, which has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function whyNot(json: string, reason: DecodeReason): string {
  if (reason === 'not_object') return `expected a JSON object, got ${jsonKind(JSON.parse(json))}`;
  if (reason === 'too_large') return 'more bytes than MAX_RECORD_BYTES';
  if (reason === 'too_deep') return TOO_DEEP;
  return 'not JSON; write one object, an array of objects, or an object on each line';
}
