import type { Instant } from '@fairlead/schema';

type Report = (row: number, member: 'start_time' | 'end_time', error: string, input: string) => void;

/** Start and end of every row, so that rows can be checked against experiment times that come after them. */
export class RowTimes {
  private values = new Float64Array(3 * 1024);
  private used = 0;

  /** Notes a row by its place in `results`; times in microseconds since 1970. */
  add(row: number, start: number, end: number): void {
    if (this.used + 3 > this.values.length) {
      const larger = new Float64Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.used++] = row;
    this.values[this.used++] = start;
    this.values[this.used++] = end;
  }

  /** Reports every time outside the experiment's (both ends belong to it), and rows that end before they start. */
  check(start: Instant, end: Instant, report: Report): void {
    const outside = `must be between experiment_start_time ${start.iso} and experiment_end_time ${end.iso}`;
    for (let i = 0; i < this.used; i += 3) {
      const row = this.values[i]!;
      const from = this.values[i + 1]!;
      const to = this.values[i + 2]!;
      if (from < start.micros || from > end.micros) report(row, 'start_time', outside, iso(from));
      if (to < start.micros || to > end.micros) report(row, 'end_time', outside, iso(to));
      else if (to < from) report(row, 'end_time', 'must not be before start_time', iso(to));
    }
  }
}

function iso(micros: number): string {
  const text = new Date(Math.floor(micros / 1000)).toISOString();
  const rest = String(((micros % 1000) + 1000) % 1000).padStart(3, '0');
  return `${text.slice(0, -1)}${rest}+00:00`;
}
