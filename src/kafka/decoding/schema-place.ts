import type { DecoderOptions, PayloadPlace } from './decoder.ts';

interface Naming {
  readonly nameOf: (key: string) => string;
  /** A schema that contains itself has few places, though its paths are without end. */
  readonly places: Map<PayloadPlace, SchemaPlace>;
  /** The naming below a field of a custom scalar, whose value is data. */
  readonly kept?: Naming;
}

/** A place in the payloads of a schema: what the graph's fields read there, and how the keys of its objects are named. */
export class SchemaPlace {
  readonly #shape: PayloadPlace;
  readonly #naming: Naming;

  private constructor(shape: PayloadPlace, naming: Naming) {
    this.#shape = shape;
    this.#naming = naming;
    naming.places.set(shape, this);
  }

  static root({ shape, nameOf }: Pick<DecoderOptions, 'shape' | 'nameOf'>): SchemaPlace {
    const kept: Naming = { nameOf: (key) => key, places: new Map() };
    return new SchemaPlace(shape, shape.kinds.has('custom') ? kept : { nameOf, places: new Map(), kept });
  }

  get kinds(): PayloadPlace['kinds'] {
    return this.#shape.kinds;
  }

  /** The place that a key leads to; of a list, the place below its items. */
  at(key: string): SchemaPlace {
    const shape = this.#shape.at(key);
    const { kept } = this.#naming;
    const naming = kept && shape.kinds.has('custom') ? kept : this.#naming;
    return naming.places.get(shape) ?? new SchemaPlace(shape, naming);
  }

  nameOf(key: string): string {
    return this.#naming.nameOf(key);
  }

  /**
   * Names of the fields of an object, in their order; undefined: the field is dropped. A field that already has a name wins over one
   * that is converted to it.
   */
  namesOf(fields: readonly string[]): readonly (string | undefined)[] {
    const names = fields.map((field) => this.#naming.nameOf(field));
    const taken = new Set(['__proto__', ...fields.filter((field, i) => field === names[i])]);
    return fields.map((field, i) => {
      const name = names[i]!;
      if (name === field) return name === '__proto__' ? undefined : name;
      if (taken.has(name)) return undefined;
      taken.add(name);
      return name;
    });
  }
}
