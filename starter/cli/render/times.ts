/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 1 h`. */
export function renderDuration(ms: number): string {
  const seconds = Math.max(ms, 0) / 1000;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return pair(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.floor(whole / 60);
  if (minutes < 1440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.floor(minutes / 60);
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

const pair = (major: number, majorUnit: string, minor: number, minorUnit: string): string =>
  minor === 0 ? `${major} ${majorUnit}` : `${major} ${majorUnit} ${minor} ${minorUnit}`;

/** The time of day, in the reader's own zone. */
export const renderClock = (atMs: number): string => new Date(atMs).toTimeString().slice(0, 8);
