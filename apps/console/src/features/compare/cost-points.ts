import type { KeyComparison } from './data';

/** An experiment by the mean of a score and what a run costs on average. */
export interface Costed {
  readonly id: string;
  readonly name: string;
  /** Its place among those that are shown, from 1. */
  readonly number: number;
  readonly cost: number;
  readonly mean: number;
  /** Numbers of those that are as good for less, or better for no more. */
  readonly outdone: readonly number[];
}

interface Compared {
  readonly experiments: readonly { readonly id: string; readonly name: string }[];
  readonly measures: readonly {
    readonly measure: string;
    readonly results: readonly { readonly experiment: string; readonly mean: number | null }[];
  }[];
}

/** The experiments that have the score and a cost, in their order; none unless there are two. */
export function scoreAgainstCost(
  { experiments, measures }: Compared,
  { direction, results }: Pick<KeyComparison, 'direction'> & { results: Compared['measures'][number]['results'] },
): readonly Costed[] {
  const costs = measures.find(({ measure }) => measure === 'cost')?.results ?? [];
  const known = experiments
    .flatMap(({ id, name }) => {
      const [cost, mean] = [costs, results].map((of) => of.find(({ experiment }) => experiment === id)?.mean ?? null);
      return typeof cost === 'number' && typeof mean === 'number' ? [{ id, name, cost, mean }] : [];
    })
    .map((one, place) => ({ ...one, number: place + 1 }));
  if (known.length < 2) return [];
  const gain = direction === 'higher is better' ? 1 : -1;
  return known.map((one) => {
    const outdoes = ({ cost, mean }: (typeof known)[number]) => {
      const better = (mean - one.mean) * gain;
      return cost <= one.cost && better >= 0 && (cost < one.cost || better > 0);
    };
    return { ...one, outdone: known.filter(outdoes).map(({ number }) => number) };
  });
}
