/** The series of the `/metrics` below `admin`, a URL: values by name with labels. */
export async function seriesOf(admin: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1).replace('Nan', 'NaN'))];
    }),
  );
}
