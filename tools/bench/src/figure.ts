/** One measured figure beside its goal. */
export interface Figure {
  readonly name: string;
  /** Value that is compared with the goal: a ratio, megabytes or seconds. */
  readonly value: number;
  readonly unit: '' | 'MB' | 's' | 'ms';
  /** The least or the most that is allowed; none where a figure is only told. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
  /** The measurements behind it, for the reader. */
  readonly detail: string;
}

/** The middle value; of an even number of values the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!;
}

/** True when a figure keeps its goal; undefined without one. */
export function met({ value, goal }: Figure): boolean | undefined {
  if (!goal) return undefined;
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
}

/** Seconds that `work` takes. */
export async function seconds(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Rounded to three significant digits, for people. */
export function shown(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
