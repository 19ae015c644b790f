/** A value of the `/metrics` below `admin`, a URL; 0 if the metric is missing. `name`: with its labels. */
export async function metricOf(admin: string, name: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}
