import type { Comparison } from '../../api/client';
import { figure, middle, whole } from '../../ui/format';
import type { ComparedRow } from './data';
import { flatText } from '../../ui/values/readable';
import { headline, markdown } from './statistics';

interface About {
  readonly title: string;
  readonly link: string;
  readonly date: string;
  /** Sentences about rows that could not be compared, by candidate. */
  readonly gaps: readonly (string | undefined)[];
}

/** A comparison in Markdown: its title, date, link and counts, a line for each candidate, and the worst rows. */
export function report(comparison: Comparison, worst: readonly ComparedRow[], about: About): string {
  const { experiments, keys, categories, baseline, rows } = comparison;
  const names = new Map(experiments.map(({ id, name }) => [id, name]));
  const others = experiments.filter(({ id }) => id !== baseline);
  const found = others.map(({ id, name }, place) => {
    const gap = about.gaps[place];
    return `- **${plain(name)}**: ${plain(headline(keys, id, categories))}${gap === undefined ? '' : `; ${plain(gap)}`}`;
  });
  const worse = worst
    .filter(({ regression }) => regression !== null && regression > 0)
    .map(({ regression, inputs_preview: inputs, inputs_turn: turn, example_id }) => {
      const text = turn?.text ?? flatText(inputs ?? '');
      return `- ${figure(regression)} worse: ${plain(middle(text, 120))} (${example_id.slice(0, 8)})`;
    });
  return [
    ...[`## ${plain(about.title)}`, ''],
    `${about.date} · [comparison](${about.link}) · ${whole(experiments.length)} experiments · ${whole(rows)} rows`,
    ...['', ...found, ''],
    ...(worse.length > 0 ? ['Worst rows, as a share of the range of the score:', '', ...worse, ''] : []),
    markdown(names, keys, baseline, categories),
  ].join('\n');
}

/** Text that was uploaded, on one line and without the signs of Markdown. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');
}
