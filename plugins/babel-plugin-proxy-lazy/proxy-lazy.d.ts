interface ProxyConstructor {
  /**
   * Takes an object literal and gives an object that looks the same and computes each value at its first read, once.
   * It exists only at compile time: babel-plugin-proxy-lazy replaces the call, and refuses what it cannot replace.
   */
  lazy<T extends object>(object: T): T;
}
