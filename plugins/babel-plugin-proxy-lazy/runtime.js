// @ts-check

/**
 * The handler behind one `Proxy.lazy({ ... })`. The transform copies this class's source text to the top of each file
 * that needs it, so it may use nothing but itself and globals.
 *
 * The target is the literal with `unbuilt` in place of every lazy value: it has all keys, in order. An unbuilt value is always
 * an ordinary property (writable, enumerable, configurable): an operation that would change these attributes builds the
 * value first.
 */
export class Lazy {
  /** Marks a value that was not read yet. */
  static unbuilt = Symbol.for('propNotConstructed');

  /** @type {(key: PropertyKey) => unknown} */
  #select;
  /** @type {object | undefined} */
  #proxy;
  /** @type {Frame | undefined} innermost first: the values under construction */
  #frame;

  /**
   * @template {object} T
   * @param {T} target own properties hold a value, or `unbuilt`
   * @param {(key: PropertyKey) => unknown} select computes the value of a key
   * @returns {T}
   */
  static proxy(target, select) {
    const handler = new Lazy(select);
    const proxy = new Proxy(target, /** @type {ProxyHandler<T>} */ (/** @type {unknown} */ (handler)));
    handler.#proxy = proxy;
    return proxy;
  }

  /**
   * Converts a computed key to a property key, once.
   *
   * @param {PropertyKey} value
   * @returns {string | symbol}
   */
  static propertyKey(value) {
    return typeof value === 'symbol' ? value : `${value}`;
  }

  /** @param {(key: PropertyKey) => unknown} select */
  constructor(select) {
    this.#select = select;
  }

  /**
   * @param {Target} target
   * @param {string | symbol} key
   * @param {unknown} receiver
   */
  get(target, key, receiver) {
    const value = Reflect.get(target, key, receiver);
    return value === Lazy.unbuilt ? this.#build(target, key) : value;
  }

  /**
   * @param {Target} target
   * @param {string | symbol} key
   * @param {unknown} value
   * @param {unknown} receiver
   */
  set(target, key, value, receiver) {
    // Reflect.set would ask the proxy for its descriptor, and see the accessor that stands for an unbuilt value.
    if (receiver !== this.#proxy || !this.#isUnbuilt(target, key)) return Reflect.set(target, key, value, receiver);
    target[key] = value;
    return true;
  }

  /**
   * Object.keys and spread ask every key for its descriptor, which must build nothing; so an unbuilt value is described
   * by an accessor. Copied to another object, it behaves like a property of that object.
   *
   * @param {Target} target
   * @param {string | symbol} key
   * @returns {PropertyDescriptor | undefined}
   */
  getOwnPropertyDescriptor(target, key) {
    const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
    if (descriptor?.value !== Lazy.unbuilt) return descriptor;
    return {
      get: () => this.get(target, key, this.#proxy),
      set(value) {
        Reflect.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
      },
      enumerable: true,
      configurable: true,
    };
  }

  /**
   * @param {Target} target
   * @param {string | symbol} key
   * @param {PropertyDescriptor} descriptor
   */
  defineProperty(target, key, descriptor) {
    const keepsValue = !('value' in descriptor || 'get' in descriptor || 'set' in descriptor);
    if (keepsValue && this.#isUnbuilt(target, key)) this.#build(target, key);
    return Reflect.defineProperty(target, key, descriptor);
  }

  /**
   * Object.freeze and Object.seal come here first. They decide by descriptors, so everything is built.
   *
   * @param {Target} target
   */
  preventExtensions(target) {
    for (const key of Reflect.ownKeys(target)) if (this.#isUnbuilt(target, key)) this.#build(target, key);
    return Reflect.preventExtensions(target);
  }

  /**
   * @param {Target} target
   * @param {string | symbol} key
   */
  #isUnbuilt(target, key) {
    return Reflect.getOwnPropertyDescriptor(target, key)?.value === Lazy.unbuilt;
  }

  /**
   * A selector that throws leaves the value unbuilt: the next read tries again.
   *
   * @param {Target} target
   * @param {string | symbol} key
   * @throws {ReferenceError} when the value needs itself
   */
  #build(target, key) {
    const outer = this.#frame;
    let path = String(key);
    for (let frame = outer; frame !== undefined; frame = frame.outer) {
      path = `${String(frame.key)} > ${path}`;
      if (frame.key === key)
        throw new ReferenceError(`Proxy.lazy: the value of "${String(key)}" needs itself (${path})`);
    }
    this.#frame = { key, outer };
    try {
      return (target[key] = this.#select(key));
    } finally {
      this.#frame = outer;
    }
  }
}

/** @typedef {Record<PropertyKey, unknown>} Target */
/** @typedef {{ key: string | symbol, outer: Frame | undefined }} Frame */
