interface ProxyConstructor {
  /**
   * Takes an object literal and returns an object with the same keys that computes each value once, at its first read.
   * It exists only at compile time: @crier/babel-plugin-proxy-lazy replaces the call, or fails with an error.
   */
  lazy<T extends object>(object: T): T;
}
