import { BlockList, isIP } from 'node:net';

/** Addresses, and ranges such as 10.0.0.0/8. */
export class AddressRanges {
  readonly #list = new BlockList();
  readonly isEmpty: boolean;

  /** @param ranges texts for which `isAddressRange` is true */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const { address, bits } = partsOf(range);
      this.#list.addSubnet(address, bits, familyOf(address));
    }
    this.isEmpty = ranges.length === 0;
  }

  has(address: string): boolean {
    return !this.isEmpty && isIP(address) !== 0 && this.#list.check(address, familyOf(address));
  }
}

/** True for an address or a range in CIDR notation (RFC 4632, RFC 4291 section 2.3). */
export function isAddressRange(text: string): boolean {
  const [address, bits, ...rest] = text.split('/') as [string, string?, ...string[]];
  if (isIP(address) === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsOf(address));
}

/** True if an address is in both ranges: then one of them has the first address of the other. */
export function overlaps(one: string, other: string): boolean {
  return new AddressRanges([one]).has(partsOf(other).address) || new AddressRanges([other]).has(partsOf(one).address);
}

function partsOf(range: string): { readonly address: string; readonly bits: number } {
  const [address, bits] = range.split('/') as [string, string?];
  return { address, bits: bits === undefined ? bitsOf(address) : Number(bits) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function bitsOf(address: string): number {
  return isIP(address) === 6 ? 128 : 32;
}
