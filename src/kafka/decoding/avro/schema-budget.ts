/** Fields, types and symbols of a schema and its references. avsc and the readers take up to 0.3 s for as many, and 3 s for 20,000 records. */
const MAX_PARTS = 4000;
/** Types in types. avsc recurses; records have at most MAX_RECORD_DEPTH levels of values. */
const MAX_LEVELS = 200;

/** Counts what a schema and its references define, before avsc compiles them. */
export class SchemaBudget {
  #parts = 0;

  /**
   * Removes defaults, too: they are the reader's business, and avsc refuses some that Java accepts.
   * @param type in JSON
   * @throws Error if it has too many parts or levels
   */
  charge(type: unknown, levels = MAX_LEVELS): void {
    if (typeof type !== 'object' || type === null) return;
    if (levels === 0) throw new Error(`more than ${MAX_LEVELS} levels of types in a schema`);
    if (Array.isArray(type)) {
      // Null and one more branch make a field nullable, and cost little.
      this.#add(Math.max(0, type.length - 2));
      for (const branch of type) this.charge(branch, levels - 1);
      return;
    }
    const definition = type as Record<string, unknown>;
    delete definition['default'];
    const { fields, symbols, items, values } = definition;
    this.#add(1 + (Array.isArray(symbols) ? symbols.length : 0));
    for (const field of Array.isArray(fields) ? (fields as unknown[]) : []) this.#chargeField(field, levels);
    this.charge(items, levels - 1);
    this.charge(values, levels - 1);
  }

  #chargeField(field: unknown, levels: number): void {
    if (typeof field !== 'object' || field === null) return;
    this.#add(1);
    const definition = field as Record<string, unknown>;
    delete definition['default'];
    this.charge(definition['type'], levels - 1);
  }

  #add(parts: number): void {
    this.#parts += parts;
    if (this.#parts > MAX_PARTS) throw new Error(`more than ${MAX_PARTS} fields, types and symbols in a schema`);
  }
}
