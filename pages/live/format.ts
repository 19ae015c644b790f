const NONE = '–';

/** 1,234; 12.3k; 1.2M. */
export function count(value: number | null): string {
  if (value === null) return NONE;
  if (value >= 1e6) return `${(value / 1e6).toFixed(value < 1e7 ? 2 : 1)}M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)}k`;
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

export function perSecond(value: number | null): string {
  return value === null ? NONE : `${count(value)}/s`;
}

export function milliseconds(value: number | null): string {
  if (value === null) return NONE;
  if (value >= 1000) return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} s`;
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export function bytes(value: number | null): string {
  if (value === null) return NONE;
  if (value >= 2 ** 30) return `${(value / 2 ** 30).toFixed(1)} GiB`;
  if (value >= 2 ** 20) return `${(value / 2 ** 20).toFixed(0)} MiB`;
  if (value >= 2 ** 10) return `${(value / 2 ** 10).toFixed(0)} KiB`;
  return `${value} B`;
}

export function percent(ratio: number | null): string {
  return ratio === null ? NONE : `${(ratio * 100).toFixed(ratio > 0.99 && ratio < 1 ? 1 : 0)} %`;
}

/** 3 d 4 h; 12 min; 40 s. */
export function duration(seconds: number): string {
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return seconds >= 60 ? `${Math.floor(seconds / 60)} min` : `${seconds} s`;
}
