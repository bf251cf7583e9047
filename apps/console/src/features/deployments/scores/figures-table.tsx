import { Link } from '@tanstack/react-router';
import { figure, middle } from '../../../ui/format';
import { Problem, Skeleton, Text } from '../../../ui/parts';
import { useWorkspace } from '../data';
import css from '../deployments.module.css';
import { revisionName } from '../words';
import { SourceLink } from './cells';
import { comparable, evaluatedOn, keysOf, type Source, sourcesOf, usageTexts } from './figures';
import { useScores } from './scores';
import own from './scores.module.css';

const MOST_KEYS = 3;
const NOTHING = '–';

interface FiguresProps {
  /** The revisions, each with a word for its part, such as `live`. */
  readonly of: readonly { readonly id: string; readonly number?: number; readonly part: string }[];
  readonly scores: ReturnType<typeof useScores>;
}

/** Scores, latency, errors, tokens and cost of a few revisions beside each other, and the way to compare them by row. */
export function Figures({ of: revisions, scores }: FiguresProps) {
  const w = useWorkspace();
  const all = revisions.flatMap(({ id }) => scores.of.get(id) ?? []);
  const compared = comparable(all);
  // Means over different datasets compare nothing.
  const isMixed = evaluatedOn(all).datasets.length > 1;
  const narrowed = useScores(isMixed && compared ? revisions : [], compared?.dataset);
  const shown = isMixed && compared ? narrowed.of : scores.of;
  const known = revisions.flatMap(({ id }) => shown.get(id) ?? []);
  const { error, refetch } = scores.error ? scores : narrowed;
  if (error && known.length === 0) return <Problem error={error} retry={refetch} />;
  if ((scores.isPending || narrowed.isPending) && known.length < revisions.length) return <Skeleton rows={4} />;
  const columns = revisions.flatMap((revision) => {
    const of = shown.get(revision.id);
    const sources: (Source | undefined)[] = of ? sourcesOf(of) : [];
    return (sources.length > 0 ? sources : [undefined]).map((source) => ({ revision, of, source }));
  });
  if (columns.every(({ source }) => !source)) {
    const named = revisions.length === 1 ? 'this revision' : 'these revisions';
    return <p className={css.quiet}>No scores: no experiment and no live run names {named}.</p>;
  }
  const used = (member: keyof ReturnType<typeof usageTexts>) => (source: Source) => usageTexts(source.of)[member];
  const rows: readonly (readonly [title: string, cell: (source: Source) => string])[] = [
    ...keysOf(known)
      .slice(0, MOST_KEYS)
      .map((key) => [key, ({ of }: Source) => figure(of.scores[key]?.mean)] as const),
    ['Median latency', used('latency')],
    ['Errors', used('errors')],
    ['Tokens of a run', used('tokens')],
    ['Cost of a run', used('cost')],
  ];
  return (
    <div className={css.stack}>
      <div className={own.scroll} tabIndex={0} role="region" aria-label="Scores of the revisions">
        <table className={own.figures}>
          <thead>
            <tr>
              <td />
              {columns.map(({ revision, of, source }) => (
                <th key={`${revision.part} ${source?.kind}`} scope="col">
                  {revisionName(revision)} <span className={css.faint}>{revision.part}</span>
                  <div className={own.source}>
                    {of && source ? <SourceLink revision={revision} scores={of} source={source} /> : 'nothing yet'}
                  </div>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows
              .map(([title, cell]) => ({
                title,
                cells: columns.map(({ source }) => (source ? cell(source) : NOTHING)),
              }))
              .filter(({ cells }) => cells.some((cell) => cell !== NOTHING))
              .map(({ title, cells }) => (
                <tr key={title}>
                  <th scope="row">
                    <Text title={title}>{middle(title, 24)}</Text>
                  </th>
                  {cells.map((cell, at) => (
                    <td key={at}>{cell}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      {isMixed && (
        <p className={css.quiet}>
          {compared
            ? 'Only experiments on a dataset that all of them have are counted.'
            : 'Their experiments are on different datasets, whose means compare nothing.'}
        </p>
      )}
      {compared && (
        <p>
          <Link
            to="/o/$w/datasets/$dataset/compare"
            params={{ w, dataset: compared.dataset }}
            search={{ selectedSessions: compared.experiments.join() }}
          >
            Compare their newest experiments row by row
          </Link>
        </p>
      )}
    </div>
  );
}
