interface Statistics {
  readonly n: number;
  readonly scores?: number;
  readonly avg?: number | null;
  /** Standard deviation of the population. */
  readonly stdev?: number | null;
}

/** Difference of two means of scores of a key. */
interface MeanDifference {
  readonly key: string;
  readonly difference: number;
  /** Standard error of the difference; undefined where too few scores tell of one. */
  readonly error?: number;
}

/** With fewer scores on either side, their spread says too little. */
const FEWEST = 5;
/** Errors beyond which a difference is clear, with 95 % confidence. */
const CLEAR = 1.96;

/** The differences of means between the statistics of two experiments, as JSON texts, of the keys that both have. */
export function differencesOf(earlier: string | null, later: string | null): MeanDifference[] {
  const [before, after] = [earlier, later].map(
    (text) => JSON.parse(text ?? '{}') as Readonly<Record<string, Statistics>>,
  );
  return Object.entries(after!).flatMap(([key, is]) => {
    const was = Object.hasOwn(before!, key) ? before![key] : undefined;
    if (typeof is.avg !== 'number' || typeof was?.avg !== 'number') return [];
    const squares = [squaredError(was), squaredError(is)];
    const known = squares.every((square) => square !== undefined);
    return [{ key, difference: is.avg - was.avg, ...(known && { error: Math.sqrt(squares[0]! + squares[1]!) }) }];
  });
}

/** The experiment with the better mean, where that is clear. */
export function verdictOf({ difference, error }: MeanDifference, lowerIsBetter: boolean) {
  if (difference === 0) return 'same';
  if (error === undefined || Math.abs(difference) <= CLEAR * error) return 'not clear';
  return difference > 0 === lowerIsBetter ? 'worse' : 'better';
}

function squaredError({ n, scores = n, stdev }: Statistics): number | undefined {
  return typeof stdev === 'number' && scores >= FEWEST ? stdev ** 2 / (scores - 1) : undefined;
}
