/** A plugin of Babel, without options, that compiles `Proxy.lazy`. It does not need the types of Babel. */
export default function proxyLazy(api: object): { name: string; visitor: object };
