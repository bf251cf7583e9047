import { flatText } from './flat-text';
import { figure, middle, whole } from './numbers';
import { type ReportedSlice, sliceChange, sliceMeans, sliceName } from './slice-text';
import { escaped, headline, type Keyed, type Labelled, labelTests, markdown, uncompared } from './verdicts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The members of a comparison that a report reads. */
export interface Reported {
  readonly baseline: string;
  readonly rows: number;
  readonly experiments: readonly Named[];
  readonly keys: readonly Keyed[];
  readonly categories?: readonly Labelled[];
}

/** The members of a row that a report reads. */
interface ReportedRow {
  readonly example_id: string;
  readonly regression: number | null;
  readonly inputs_preview: string | null;
  readonly inputs_turn?: { readonly text: string };
}

interface About {
  /** Name of the dataset; undefined where it is not known. */
  readonly dataset?: string;
  /** Address of the comparison in the console; undefined where it is not known. */
  readonly link?: string;
  readonly date: string;
  /** Rows, the worst first: those that got no worse are left out. */
  readonly worst: readonly ReportedRow[];
  /** Slices in which a candidate is clearly worse, the worst first; undefined when they could not be compared. */
  readonly slices: readonly ReportedSlice[] | undefined;
}

/** Slices that a report names. */
export const WORST_SLICES = 5;

/** The compared experiments in a few words. */
export function comparisonTitle(experiments: readonly Named[]): string {
  const [base, candidate, ...more] = experiments.map(({ name }) => middle(name, 40));
  return `${candidate} against ${base}${more.length > 0 ? ` and ${whole(more.length)} more` : ''}`;
}

/**
 * A comparison in Markdown: its title, date, link and counts, a line for each candidate, the slices and the rows that
 * got worse most, and a table.
 */
export function report(comparison: Reported, { dataset, link, date, worst, slices }: About): string {
  const { experiments, keys, categories = [], baseline, rows } = comparison;
  const names = new Map(experiments.map(({ id, name }) => [id, name]));
  const others = experiments.filter(({ id }) => id !== baseline);
  const compared = [...keys, ...labelTests(categories)];
  const found = others.map(({ id, name }) => {
    const gap = uncompared(compared, baseline, id);
    return `- **${escaped(name)}**: ${escaped(headline(keys, id, categories))}${gap === undefined ? '' : `; ${escaped(gap)}`}`;
  });
  const lost = (slices ?? []).slice(0, WORST_SLICES).map((slice) => {
    const of = others.length > 1 ? `, ${middle(names.get(slice.experiment) ?? slice.experiment, 40)}` : '';
    const told = `${sliceChange(slice)} (${sliceMeans(slice)}, ${whole(slice.rows)} rows${of})`;
    return `- ${escaped(middle(sliceName(slice), 80))}: ${escaped(told)}`;
  });
  const worse = worst
    .filter(({ regression }) => regression !== null && regression > 0)
    .map(({ regression, inputs_preview: inputs, inputs_turn: turn, example_id }) => {
      const text = turn?.text ?? flatText(inputs ?? '');
      return `- ${figure(regression)} worse: ${escaped(middle(text, 120))} (${example_id.slice(0, 8)})`;
    });
  const title = `${comparisonTitle(experiments)}${dataset === undefined ? '' : ` on ${dataset}`}`;
  return [
    ...[`## ${escaped(title)}`, ''],
    [date, ...(link === undefined ? [] : [`[comparison](${link})`]), `${whole(experiments.length)} experiments`]
      .concat(`${whole(rows)} rows`)
      .join(' · '),
    ...['', ...found, ''],
    ...(slices === undefined ? ['The slices were not compared.', ''] : []),
    ...(lost.length > 0 ? ['Slices that got clearly worse:', '', ...lost, ''] : []),
    ...(worse.length > 0 ? ['Worst rows, as a share of the range of the score:', '', ...worse, ''] : []),
    markdown(names, keys, categories),
  ].join('\n');
}
