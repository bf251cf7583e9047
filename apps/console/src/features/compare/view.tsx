import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo } from 'react';
import { useAddress } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { middle, signed, whole } from '../../ui/format';
import { Button, Copy, Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { RefusedItems } from '../../ui/refused';
import { isForPage, useShortcuts } from '../../ui/shortcuts';
import css from './compare.module.css';
import { WhatChanged } from './changed';
import { type Asked, exportPath, stampOf, useComparison, type useDatasetBaseline, useSummary } from './data';
import { Distributions } from './distributions';
import { Gate } from './gate';
import { Head } from './head';
import { RowPanel } from './row-panel';
import { Rows } from './rows';
import { Tools } from './tools';
import { correct, filterText, headline, labelTests, markdown, uncompared } from './statistics';

/** Candidates that are summed up above the statistics. */
const MOST_FINDINGS = 4;

interface CompareViewProps {
  readonly dataset: string;
  readonly experiments: readonly string[];
  /** Element before the title. */
  readonly crumb: ReactNode;
  /** Element below the title. */
  readonly note?: ReactNode;
  /** Actions of members of the workspace; undefined for whoever has a share link. */
  readonly own?: {
    readonly baseline: ReturnType<typeof useDatasetBaseline>;
    /** Rows can be saved as files. */
    readonly saves: boolean;
    readonly share: ReactNode;
  };
  /** Rows can be searched for a text. */
  readonly searchable: boolean;
}

/** Experiments on one dataset side by side; one alone is shown as it is. */
export function CompareView({ dataset, experiments, crumb, note, own, searchable }: CompareViewProps) {
  const { search, change } = useAddress();
  const { w } = useParams({ strict: false });
  const asked: Asked = {
    dataset,
    experiments,
    baseline: search.baseline,
    rows: search.rows,
    q: search.q,
    sort: search.sort,
  };
  const comparison = useComparison(asked);
  const { data } = comparison;
  const set = (changed: Record<string, string | undefined>, replace = false) =>
    change(changed, replace ? 'replace' : 'step');
  const focus = data?.keys.find(({ key }) => key === search.key) ?? data?.keys[0];
  const names = useMemo(() => new Map(data?.experiments.map(({ id, name }) => [id, name])), [data]);
  const alone = experiments.length === 1;
  const title = alone ? (data?.experiments[0]?.name ?? 'Experiment') : 'Compare';
  useTitle(title);
  useEscape(Boolean(search.row), () => set({ row: undefined }));
  const others = useMemo(() => data?.experiments.filter(({ id }) => id !== data.baseline) ?? [], [data]);
  const candidate = others.find(({ id }) => id === search.candidate) ?? others[0];
  const wholeTexts = search.texts === 'whole';
  const folded = search.head === 'folded';
  const choose = (step: number) => {
    const next = others[others.indexOf(candidate!) + step];
    if (next) set({ candidate: next.id }, true);
  };
  const panel = (name: 'changed' | 'distribution' | 'gate') => ({
    'aria-pressed': search.panel === name,
    onClick: () => set({ panel: search.panel === name ? undefined : name }, true),
  });
  const categories = data?.categories ?? [];
  const filtered = search.rows?.split(':').slice(2).join(':');
  /** The key whose labels the rows show: the one that is looked at, else the first one. */
  const labels = [
    filtered,
    search.panel === 'distribution' ? search.of : undefined,
    focus?.key,
    categories[0]?.key,
  ].find((name) => name !== undefined && categories.some(({ key }) => key === name));
  const distributed = [...(data?.keys ?? []), ...categories].map(({ key }) => key);
  const onlyWorse = candidate && focus ? `${candidate.id}:worse:${focus.key}` : undefined;
  const fold = () => set({ head: folded ? undefined : 'folded' }, true);
  const turn = () => set({ texts: wholeTexts ? undefined : 'whole' }, true);
  const rebase = (baseline: string) => set({ baseline, candidate: undefined, rows: undefined });
  useShortcuts({
    '[': candidate && (() => choose(-1)),
    ']': candidate && (() => choose(1)),
    b: candidate && (() => rebase(candidate.id)),
    w:
      onlyWorse === undefined
        ? undefined
        : () => set({ rows: search.rows === onlyWorse ? undefined : onlyWorse, row: undefined }),
    d: candidate && turn,
    s: data && fold,
    ...Object.fromEntries(
      (data?.keys ?? []).slice(0, 9).map(({ key }, index) => [String(index + 1), () => set({ key })]),
    ),
  });

  const compared = [...(data?.keys ?? []), ...labelTests(categories)];
  const { tests, alarms, surviving } = correct(compared);
  if (comparison.error && !data) {
    return (
      <ErrorPage
        error={comparison.error}
        thing={alone ? 'experiment' : 'comparison'}
        retry={() => void comparison.refetch()}
      >
        {crumb}
      </ErrorPage>
    );
  }
  return (
    <Page
      title={
        <>
          {crumb} <span className={css.faint}>/</span> <Text title={title}>{title}</Text>
        </>
      }
      aside={
        data && (
          <>
            {own && candidate && <Button {...panel('changed')}>What changed</Button>}
            {own && distributed.length > 0 && <Button {...panel('distribution')}>Distribution</Button>}
            {own && candidate && <Button {...panel('gate')}>Gate</Button>}
            <Copy text={window.location.href}>Copy link</Copy>
            {!alone && <Copy text={markdown(names, data.keys, data.baseline, categories)}>Copy as Markdown</Copy>}
            {own?.share}
          </>
        )
      }
    >
      {note}
      {comparison.error && <Problem error={comparison.error} retry={() => void comparison.refetch()} />}
      {!data && <Skeleton rows={10} />}
      {data && (
        <>
          <p className={css.summary}>
            {alone ? `${whole(data.rows)} rows` : `${experiments.length} experiments · ${whole(data.rows)} rows`}
            {tests > 0 &&
              ` · ${tests === 1 ? '1 test' : `${tests} tests`}: ${alarms.toFixed(1)} false alarms to be expected`}
          </p>
          {alone && own && w !== undefined && <RefusedItems workspace={w} session={experiments[0]!} />}
          {alone && own?.baseline.chosen && own.baseline.chosen !== experiments[0] && (
            <AgainstBaseline dataset={dataset} experiment={experiments[0]!} baseline={own.baseline.chosen} />
          )}
          {others.length > 0 && !folded && (
            <ul className={css.findings}>
              {others.slice(0, MOST_FINDINGS).map(({ id, name }) => (
                <li key={id}>
                  <b>
                    <Text title={name}>{middle(name, 40)}</Text>
                  </b>{' '}
                  {headline(data.keys, id, categories)}
                  <Gap sentence={uncompared(compared, data.baseline, id)} />
                </li>
              ))}
            </ul>
          )}
          <Head
            comparison={data}
            focus={focus}
            filter={search.rows}
            surviving={surviving}
            candidate={others.length > 1 ? candidate?.id : undefined}
            folded={folded}
            onFold={fold}
            onKey={(key) => set({ key })}
            onBaseline={rebase}
            kept={own?.baseline.chosen}
            onKeep={own?.baseline.choice.isPending ? undefined : () => own?.baseline.choice.mutate(data.baseline)}
            onFilter={(rows) => set({ rows, row: undefined })}
          />
          {own?.baseline.choice.error && <Problem error={own.baseline.choice.error} />}
          {own && search.panel === 'changed' && candidate && <WhatChanged comparison={data} candidate={candidate} />}
          {own && search.panel === 'gate' && candidate && <Gate comparison={data} candidate={candidate} />}
          {own && search.panel === 'distribution' && distributed.length > 0 && (
            <Distributions
              asked={asked}
              comparison={data}
              candidate={candidate}
              shown={distributed.find((key) => key === search.of) ?? focus?.key ?? distributed[0]!}
              onKey={(of) => set({ of }, true)}
            />
          )}
          <Warnings messages={data.warnings.map(({ message }) => message)} />
          {search.rows !== undefined && (
            <p className={css.filter}>
              Only rows: <FilterName text={search.rows} names={names} />{' '}
              <Button onClick={() => set({ rows: undefined })}>Show all rows</Button>
            </p>
          )}
          <Tools
            others={others}
            candidate={candidate}
            focus={focus}
            sort={search.sort}
            wholeTexts={wholeTexts}
            text={search.q ?? ''}
            searchable={searchable}
            files={own?.saves ? { csv: exportPath(asked, 'csv'), jsonl: exportPath(asked, 'jsonl') } : undefined}
            onChange={(changed) => set(changed, true)}
          />
          <div className={search.row === undefined ? css.body : `${css.body} ${css.beside}`}>
            <Rows
              asked={{ ...asked, comments: focus?.key }}
              comparison={data}
              focus={focus}
              labels={labels}
              stamp={stampOf(data)}
              chosen={search.row}
              candidate={candidate?.id}
              whole={wholeTexts}
              onChoose={(row) => set({ row }, search.row !== undefined)}
            />
            {search.row !== undefined && (
              <RowPanel
                key={search.row}
                dataset={dataset}
                comparison={data}
                asked={asked}
                example={search.row}
                candidate={candidate?.id}
                onCandidate={(id) => set({ candidate: id }, true)}
                onClose={() => set({ row: undefined })}
              />
            )}
          </div>
        </>
      )}
    </Page>
  );
}

/** Sentence about the rows that a verdict leaves out; nothing when there are none. */
function Gap({ sentence }: { sentence: string | undefined }) {
  if (sentence === undefined) return null;
  return (
    <span className={css.gap}>
      ; <Text>{sentence}</Text>
    </span>
  );
}

/** Result of one experiment against the baseline of its dataset. */
function AgainstBaseline({ dataset, experiment, baseline }: Record<'dataset' | 'experiment' | 'baseline', string>) {
  const { w = '-' } = useParams({ strict: false });
  const { data } = useSummary(dataset, experiment, baseline);
  if (!data) return null;
  const [base, own] = [0, 1].map((place) => data.experiments[place]);
  const said = data.keys.flatMap(({ key, results }) => {
    const { verdict, difference } = results.find((one) => one.experiment === 1) ?? {};
    return key === null || verdict === undefined || verdict === 'not clear' ? [] : [{ key, verdict, difference }];
  });
  const labels = data.categories.flatMap(({ key, results }) =>
    key !== null && results.some(({ experiment: place, verdict }) => place === 1 && verdict === 'changed') ? [key] : [],
  );
  return (
    <p className={css.against}>
      Against{' '}
      <b>
        <Text title={base?.name ?? ''}>{middle(base?.name ?? 'the baseline', 40)}</Text>
      </b>
      , the baseline of the dataset:{' '}
      {said.length + labels.length === 0
        ? 'no clear difference'
        : said.map(({ key, verdict, difference }, place) => (
            <span key={key}>
              {place > 0 && ', '}
              <span className={verdict === 'better' ? css.up : css.down}>
                {verdict === 'better' ? '▲' : '▼'} {verdict}
              </span>{' '}
              on <Text>{key}</Text> ({signed(difference)})
            </span>
          ))}
      {labels.length > 0 && (
        <>
          {said.length > 0 && '; '}changed labels of <Text>{labels.join(', ')}</Text>
        </>
      )}{' '}
      <Link
        to="/o/$w/datasets/$dataset/compare"
        params={{ w, dataset }}
        search={{ selectedSessions: [baseline, own?.id ?? experiment].join() }}
      >
        Compare
      </Link>
    </p>
  );
}

function Warnings({ messages }: { messages: readonly string[] }) {
  if (messages.length === 0) return null;
  return (
    <ul className={css.warnings}>
      {messages.slice(0, 4).map((message) => (
        <li key={message}>
          <Text>{message}</Text>
        </li>
      ))}
      {messages.length > 4 && <li>and {messages.length - 4} more</li>}
    </ul>
  );
}

function FilterName({ text, names }: { text: string; names: ReadonlyMap<string, string> }) {
  const [experiment = '', kinds = '', ...key] = text.split(':');
  return (
    <b>
      <Text>{filterText(kinds)}</Text> in <Text>{names.get(experiment) ?? experiment}</Text> on{' '}
      <Text>{key.join(':')}</Text>
    </b>
  );
}

/** Closes what is open with Escape, unless the key is meant for a field or a dialog. */
function useEscape(open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return undefined;
    const listen = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isForPage(event)) close();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  });
}
