import type { GateOutcome, VerdictAbout } from '@fairlead/contracts';
import type { GateJudged } from '../gates/held-revision';
import { figure, middle, whole } from './numbers';
import { escaped } from './verdicts';

/** Limits that are shown, those that are broken first, and sentences about the others. */
const MOST_LIMITS = 30;
const MOST_REASONS = 10;
const LONGEST = 300;
const ORDER: readonly GateOutcome[] = ['refuse', 'hold', 'promote'];
const OUTCOMES = { promote: 'kept', hold: 'not shown', refuse: 'broken' } as const;

/** The last look at the evidence for a revision. */
type Look = Pick<GateJudged['data'], 'verdicts' | 'reasons' | 'look'> & { readonly time: string };

/**
 * The verdict of the gates of a revision in Markdown: what has become of it, its limits with their intervals, and the
 * reports of comparisons, which may have any length. `last`: undefined before the first look.
 */
export function verdictMarkdown(about: VerdictAbout, last: Look | undefined, reports: readonly string[]): string {
  const { name, commit, standing, page } = about;
  const title = `## ${escaped(middle(name, 80))}: ${escaped(standing)}`;
  const facts = [
    ...(page === undefined ? [] : [`[revision](${page})`]),
    `commit ${commit.slice(0, 10)}`,
    ...(last ? [`look ${whole(last.look)} at ${last.time.slice(0, 16).replace('T', ' ')} UTC`] : []),
  ];
  const found = last ? lines(last) : ['Nothing has been looked at yet.'];
  return [title, '', facts.join(' · '), '', ...found, ...reports.flatMap((text) => ['', below(text)])].join('\n');
}

function lines({ verdicts, reasons }: Look): string[] {
  const criteria = verdicts
    .flatMap(({ gate, criteria }) => criteria.map((one) => ({ gate, ...one })))
    .sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
  const table = criteria.slice(0, MOST_LIMITS).map(({ gate, of, slice, limit, threshold, rows, ...found }) => {
    const { mean, lower, upper, outcome } = found;
    const what = `${middle(of, 60)}${slice === null ? '' : ` in ${middle(slice, 60)}`}`;
    const range = mean === null ? '–' : `${figure(mean)} (${figure(lower)} … ${figure(upper)})`;
    const cells = [middle(gate, 40), what, `${limit} ${figure(threshold)}`, whole(rows), range, OUTCOMES[outcome]];
    return `| ${cells.map(escaped).join(' | ')} |`;
  });
  const left = criteria.length - table.length;
  const told = reasons.slice(0, MOST_REASONS).map((reason) => `- ${escaped(middle(reason, LONGEST))}`);
  const more = reasons.length - told.length;
  return [
    ...told,
    ...(more > 0 ? [`- and ${whole(more)} more`] : []),
    ...(table.length === 0
      ? []
      : [
          ...(told.length > 0 ? [''] : []),
          '| gate | of | limit | rows | mean (interval) | limit is |',
          '| --- | --- | --- | ---: | --- | --- |',
          ...table,
        ]),
    ...(left > 0 ? ['', `${whole(left)} more limits are in Fairlead.`] : []),
  ];
}

/** A report as a part of a longer text. */
function below(report: string): string {
  return report.replace(/^## /, '### ');
}
