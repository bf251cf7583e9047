import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Comparison, type Schemas } from '../../api/client';
import { ErrorPage } from '../../ui/error-page';
import { duration, figure } from '../../ui/format';
import { MarkdownSwitch } from '../../ui/markdown/markdown-text';
import { Button, LongText, Named, Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import css from './compare.module.css';
import {
  type ComparedRow,
  type RowRuns,
  useDatasetBaseline,
  useExample,
  useRowAround,
  useRowRuns,
  useRun,
} from './data';
import { ExampleRuns } from './example-runs';
import { Change, Feedback, Repetitions } from './feedback';
import { Labels } from './labels';
import { Values } from '../../ui/values/values';

const FROM = '/o/$w/datasets/$dataset/e/$example';
const MOST_EXPERIMENTS = 20;
/** Outputs that are read at once; each is a request. */
const MOST_OUTPUTS = 8;

/** One example, and what became of it in the experiments of the address, or in the newest ones of its dataset. */
export function ExamplePage() {
  const { w, dataset, example: id } = useParams({ from: FROM });
  const { selectedSessions, baseline } = useSearch({ from: FROM });
  const example = useExample(dataset, id);
  const newest = useQuery({
    queryKey: ['experiments', w, dataset, 'newest'],
    queryFn: async ({ signal }) => {
      const query = { dataset_id: [dataset], limit: MOST_EXPERIMENTS };
      const found = (await answered(
        api.GET('/v1/experiments', { params: { query }, signal }),
      )) as Schemas['ExperimentsPage'];
      // The oldest is what the others are measured against.
      return found.resources.map((one) => one.id).reverse();
    },
    enabled: selectedSessions === undefined,
  });
  const { name } = useDatasetBaseline(dataset);
  const experiments = selectedSessions?.split(',').filter(Boolean) ?? newest.data ?? [];
  useTitle(name === undefined ? 'Row' : `Row · ${name}`);
  const error = example.error ?? newest.error;
  if (error && !example.data) {
    return (
      <ErrorPage error={error} thing="row" retry={() => void (example.error ? example : newest).refetch()}>
        <Link to="/o/$w/datasets/$dataset" params={{ w, dataset }}>
          The dataset
        </Link>
      </ErrorPage>
    );
  }
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/datasets" params={{ w }} className={css.crumb}>
            Datasets
          </Link>{' '}
          <span className={css.faint}>/</span>{' '}
          <Link to="/o/$w/datasets/$dataset" params={{ w, dataset }} className={css.crumb} title={name}>
            <Named name={name} kind="Dataset" most={40} />
          </Link>{' '}
          <span className={css.faint}>/</span> Row <span className={css.id}>{id.slice(0, 8)}</span>
        </>
      }
      aside={<MarkdownSwitch />}
    >
      {error && <Problem error={error} retry={() => void example.refetch()} />}
      {!example.data && <Skeleton />}
      {example.data && (
        <div className={css.example}>
          <Values values={{ Input: example.data.inputs, Reference: example.data.outputs ?? null }} />
        </div>
      )}
      {experiments.length > 0 && (
        <Results dataset={dataset} example={id} experiments={experiments} baseline={baseline} />
      )}
      {example.data && <ExampleRuns example={id} source={example.data.source_run_id ?? undefined} />}
    </Page>
  );
}

interface ResultsProps {
  readonly dataset: string;
  readonly example: string;
  readonly experiments: readonly string[];
  /** The first of them when undefined. */
  readonly baseline: string | undefined;
}

/** Results of each experiment for an example. */
function Results({ dataset, example, experiments, baseline }: ResultsProps) {
  const { w } = useParams({ from: FROM });
  const found = useRowAround({ dataset, experiments, baseline }, example);
  const runs = useRowRuns({ dataset, experiments }, example);
  const row = found.data?.page.rows.find(({ example_id }) => example_id === example);
  if (found.error ?? runs.error) return <Problem error={(found.error ?? runs.error)!} />;
  if (!found.data || runs.isPending) return <Skeleton rows={3} />;
  if (!row) return <p className={css.faint}>None of these experiments has this row.</p>;
  return (
    <section className={css.results} aria-label="Results">
      <header>
        <h2>Results</h2>
        <Link
          to="/o/$w/datasets/$dataset/compare"
          params={{ w, dataset }}
          search={{ selectedSessions: experiments.join(), baseline, row: example }}
        >
          {experiments.length === 1 ? 'Open the experiment' : `Compare all ${experiments.length}`}
        </Link>
      </header>
      <ol>
        {found.data.experiments.map(({ id, name }, at) => (
          <li key={id}>
            <h3>
              <Text title={name}>{name}</Text>{' '}
              {id === found.data.baseline && <span className={css.base}>baseline</span>}
            </h3>
            <Result
              cell={row.cells[at]}
              base={row.cells[0]}
              keys={found.data.keys}
              isBase={at === 0}
              isRead={at < MOST_OUTPUTS}
              of={runs.data?.experiments.find(({ experiment }) => experiment === id)}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

interface ResultProps {
  readonly cell: ComparedRow['cells'][number] | undefined;
  readonly base: ComparedRow['cells'][number] | undefined;
  readonly keys: Comparison['keys'];
  readonly isBase: boolean;
  /** The output is read at once, and on request otherwise. */
  readonly isRead: boolean;
  /** The runs of the row; undefined until they are there. */
  readonly of: RowRuns['experiments'][number] | undefined;
}

function Result({ cell, base, keys, isBase, isRead, of }: ResultProps) {
  const [place, setPlace] = useState(0);
  const run = of?.runs[place];
  const [isOpen, setOpen] = useState(isRead);
  const outputs = useRun(isOpen ? run?.run_id : undefined);
  if (!cell) return <p className={css.faint}>no such row</p>;
  const told = new Set(run?.feedback.map(({ key }) => key));
  return (
    <>
      <p className={css.marks}>
        {keys.map(
          (keyed, index) =>
            told.has(keyed.key) || (
              <span key={keyed.key}>
                <Text>{keyed.key}</Text> {figure(cell.scores[index])}{' '}
                {!isBase && <Change score={cell.scores[index] ?? null} before={base?.scores[index]} keyed={keyed} />}
              </span>
            ),
        )}
        {Object.entries(cell.labels).map(([key, labels]) => (
          <span key={`labels ${key}`}>
            <Text>{key}</Text> <Labels of={labels} before={isBase ? undefined : base?.labels[key]} />
          </span>
        ))}
        <span className={css.faint}>{duration(run?.latency_seconds ?? cell.latency_seconds)}</span>
      </p>
      {of && of.run_count > 1 && (
        <Repetitions runs={of.runs} count={of.run_count} keys={keys} shown={place} onShow={setPlace} />
      )}
      {run && <Feedback given={run.feedback} keys={keys} before={isBase ? undefined : base?.scores} />}
      {run && !isOpen && <Button onClick={() => setOpen(true)}>Show the output</Button>}
      {run && isOpen && outputs.isPending && <Skeleton rows={2} />}
      {outputs.error && <Problem error={outputs.error} />}
      {outputs.data?.error != null ? (
        <div className={css.failure}>
          <b>Error</b>
          <pre tabIndex={0}>
            <LongText>{outputs.data.error}</LongText>
          </pre>
        </div>
      ) : (
        outputs.data && <Values values={{ Output: outputs.data.outputs }} />
      )}
    </>
  );
}
