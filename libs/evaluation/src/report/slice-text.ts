import { figure, middle, percent, signed } from './numbers';

/** The members of the comparison of a slice that are read here. */
export interface ReportedSlice {
  readonly by: string;
  readonly value: string;
  readonly experiment: string;
  readonly measure: string;
  readonly key: string | null;
  readonly rows: number;
  readonly baseline_mean: number | null;
  readonly mean: number | null;
  readonly difference: number | null;
}

/** `topic: billing`, or `split: test`. */
export function sliceName({ by, value }: Pick<ReportedSlice, 'by' | 'value'>): string {
  return `${by.replace(/^(metadata|inputs)\./, '')}: ${value}`;
}

/** The score, the errors or another measure of a slice with the difference from the baseline. */
export function sliceChange({ measure, key, difference }: ReportedSlice): string {
  if (measure === 'errors') return `errors ${(difference ?? 0) > 0 ? '+' : ''}${percent(difference)}`;
  return `${middle(key ?? measure, 24)} ${signed(difference)}${measure === 'latency' ? ' s' : ''}`;
}

/** Means of the baseline and of the experiment. */
export function sliceMeans({ measure, baseline_mean: before, mean: after }: ReportedSlice): string {
  return [before, after].map((mean) => (measure === 'errors' ? percent(mean) : figure(mean))).join(' → ');
}
