/** A value of the `/metrics` below `admin`, a URL; 0 if the metric is missing. `name`: with its labels; without them, the sum of all series. */
export async function metricOf(admin: string, name: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const isOf = (line: string) => line.startsWith(`${name} `) || (!name.includes('{') && line.startsWith(`${name}{`));
  const values = text.split('\n').filter(isOf);
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
