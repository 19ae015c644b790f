import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OMITTED_PARTS, parseParts } from '../../src/bus/carried-parts.ts';
import { PartsPrinter } from '../../src/graph/parts-printer.ts';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('PartsPrinter', () => {
  it('prints the demanded parts only', () => {
    const headers = { tenant: Buffer.from('acme'), secret: Buffer.from('s'), list: ['a', Buffer.from('last')] };
    const record = { key: Buffer.from('k'), headers };
    const printed = (key: boolean, names: string[]) =>
      plain(parseParts(new PartsPrinter({ key, headers: names }).print(record)));
    assert.deepEqual(printed(true, []), { key: 'k', headers: {} });
    assert.deepEqual(printed(false, ['tenant', 'list', 'absent']), {
      headers: { tenant: 'acme', list: 'last', absent: null },
    });
  });

  it('takes a part that is no text, or has no value, for none', () => {
    const printer = new PartsPrinter({ key: true, headers: ['bytes', 'empty', 'blank', 'toString'] });
    const bytes = Buffer.from([0xff, 0xfe]);
    const text = printer.print({ key: bytes, headers: { bytes, empty: undefined, blank: Buffer.alloc(0) } });
    assert.deepEqual(plain(parseParts(text)), {
      key: null,
      headers: { bytes: null, empty: null, blank: '', toString: null },
    });
    assert.deepEqual(plain(parseParts(new PartsPrinter({ key: true, headers: [] }).print({ key: null }))), {
      key: null,
      headers: {},
    });
  });

  it('prints what tells keys apart, also to channels that the record leaves, which learn nothing else', () => {
    const printer = new PartsPrinter({ key: true, headers: ['tenant'], id: true });
    const record = { key: Buffer.from('k'), headers: { tenant: Buffer.from('acme') } };
    const { id, ...others } = parseParts(printer.print(record))!;
    assert.deepEqual(plain(others), { key: 'k', headers: { tenant: 'acme' } });
    assert.match(id!, /^[\w-]{22}$/);
    assert.deepEqual(plain(parseParts(printer.printLeft(record)!)), { headers: {}, id });
    const idOf = (key: Buffer | null) => parseParts(printer.print({ key }))!.id;
    assert.equal(idOf(Buffer.from('k')), id);
    assert.notEqual(idOf(Buffer.from([0, 1])), idOf(Buffer.from([0, 2])));
    assert.equal(idOf(null), null);
    assert.equal(new PartsPrinter({ key: true, headers: [] }).printLeft(record), undefined);
  });

  it('omits all parts of a record with a header of 1 MB, and counts it (S-77)', () => {
    const printer = new PartsPrinter({ key: true, headers: ['big'] });
    const record = { key: Buffer.from('k'), headers: { big: Buffer.alloc(1_048_576, 'x') } };
    assert.equal(printer.print(record), OMITTED_PARTS);
    assert.equal(printer.omitted, 1);
    assert.notEqual(printer.print({ key: Buffer.from('k') }), OMITTED_PARTS);
    assert.equal(printer.omitted, 1);
  });

  it('tells keys apart although it omits all other parts', () => {
    const printer = new PartsPrinter({ key: true, headers: ['big'], id: true });
    const key = Buffer.from('k');
    const { id } = parseParts(printer.print({ key }))!;
    const large = printer.print({ key, headers: { big: Buffer.alloc(1_048_576, 'x') } });
    assert.deepEqual(plain(parseParts(large)), { headers: {}, id, isOmitted: true });
    assert.equal(printer.omitted, 1);
  });
});
