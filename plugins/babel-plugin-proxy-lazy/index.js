/** Placeholder of the first commit: replaced by the plugin. */
export default function proxyLazy() {
  return { name: 'proxy-lazy', visitor: {} };
}
