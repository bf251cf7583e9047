import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { comparisonTitle, report } from '../../../../../libs/evaluation/src/report/report';
import { labelTests } from '../../../../../libs/evaluation/src/report/verdicts';
import type { Comparison } from '../../api/client';
import { useAddress } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { middle, signed, whole } from '../../ui/format';
import { Button, Copy, Named, Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { Section } from '../../ui/list';
import { RefusedItems } from '../../ui/refused';
import { isForPage, useShortcuts } from '../../ui/shortcuts';
import css from './compare.module.css';
import { WhatChanged } from './changed';
import {
  type Asked,
  exportPath,
  stampOf,
  useComparison,
  type useDatasetBaseline,
  type Steps,
  useSteps,
  useRowPages,
  useSlices,
  useSummary,
  useWorstRows,
} from './data';
import { Distributions } from './distributions';
import { Gate } from './gate';
import { Head } from './head';
import { Category } from './labels';
import { type PanelName, PANELS, SidePanel, Statistics, Warnings } from './panels';
import { RowPanel } from './row-panel';
import { SlicesPanel, Worse } from './slices';
import { Rows } from './rows';
import { Tools } from './tools';
import { correct, filterText } from './statistics';

const PANEL_NAMES = {
  ...{ statistics: 'Statistics', slices: 'Slices', labels: 'Labels', changed: 'What changed' },
  ...{ distribution: 'Distribution', gate: 'Gate', warnings: 'Warnings' },
} as const;

interface CompareViewProps {
  readonly dataset: string;
  readonly experiments: readonly string[];
  /** Element before the title. */
  readonly crumb: ReactNode;
  /** Name of the dataset; undefined where it is not known. */
  readonly dataset_name?: string;
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
export function CompareView({ dataset, experiments, crumb, dataset_name, note, own, searchable }: CompareViewProps) {
  const { search, change } = useAddress();
  const { w } = useParams({ strict: false });
  const { baseline, rows, q, sort, slice } = search;
  const asked: Asked = { dataset, experiments, baseline, rows, q, sort, slice };
  const comparison = useComparison(asked);
  // The names of the page come together: a title that grows would move what is below it.
  const data = own?.baseline.isPending ? undefined : comparison.data;
  const set = (changed: Record<string, string | undefined>, replace = false) =>
    change(changed, replace ? 'replace' : 'step');
  const focus = data?.keys.find(({ key }) => key === search.key) ?? data?.keys[0];
  const names = useMemo(() => new Map(data?.experiments.map(({ id, name }) => [id, name])), [data]);
  const alone = experiments.length === 1;
  const title = titleOf(data, alone);
  useTitle(dataset_name === undefined ? title : `${title} · ${dataset_name}`);
  const others = useMemo(() => data?.experiments.filter(({ id }) => id !== data.baseline) ?? [], [data]);
  const candidate = others.find(({ id }) => id === search.candidate) ?? others[0];
  const wholeTexts = search.texts === 'whole';
  const folded = search.head === 'folded';
  const choose = (step: number) => {
    const next = others[others.indexOf(candidate!) + step];
    if (next) set({ candidate: next.id }, true);
  };
  const open = PANELS.find((name) => name === search.panel);
  const shut = () => set(search.row === undefined ? { panel: undefined } : { row: undefined });
  useEscape(search.row !== undefined || open !== undefined, shut);
  useReturn(search.row ?? open);
  const toggle = (name: PanelName, text: string, offered: unknown) =>
    Boolean(offered) && (
      <Button
        data-opens={name}
        aria-pressed={open === name && search.row === undefined}
        onClick={() =>
          set({ panel: open === name && search.row === undefined ? undefined : name, row: undefined }, true)
        }
      >
        {text}
      </Button>
    );
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
  const rebase = (baseline: string) => set({ baseline, candidate: undefined, rows: undefined, slice: undefined });
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
  const alarmsText = `${tests === 1 ? '1 test' : `${whole(tests)} tests`}: ${alarms.toFixed(1)} false alarms to be expected`;
  const shownRows = useMemo(
    () => ({ dataset, experiments, baseline, rows, q, sort, slice, comments: focus?.key }),
    [dataset, experiments, baseline, rows, q, sort, slice, focus?.key],
  );
  const isCompared = own !== undefined && candidate !== undefined;
  const isMeasured = search.slices === 'measured';
  const focused = useSlices(asked, data, isCompared && focus !== undefined, { key: focus?.key });
  const isLost = focused.data?.slices.some(({ verdict }) => verdict === 'worse');
  const isWanted = open === 'slices' || isMeasured || !focus || isLost === false;
  const slices = useSlices(asked, data, isCompared && isWanted, { isMeasured });
  const ofSlice = (chosen: string | undefined) => set({ slice: chosen, row: undefined });
  const worst = useWorstRows(asked);
  const reported = async (comparison: Comparison) => {
    const found = slices.data ?? (own && (await slices.refetch()).data);
    return report(comparison, {
      dataset: dataset_name,
      link: window.location.href,
      date: new Date().toISOString().slice(0, 10),
      worst: await worst(),
      slices: found?.slices.filter(({ verdict }) => verdict === 'worse'),
    });
  };
  const worse = focus && candidate && `${candidate.id}:worse:${focus.key}`;
  const neighbours = useSteps(asked, search.row);
  const regressions = useSteps(asked, search.row, worse, worse !== undefined);
  const go = (steps: Steps) => (step: 1 | -1) =>
    void steps.find(step).then((row) => row && set({ row }, search.row !== undefined));
  useShortcuts({
    n: worse === undefined ? undefined : () => go(regressions)(1),
    p: worse === undefined ? undefined : () => go(regressions)(-1),
  });
  const [first] = useRowPages(shownRows, data ? [0] : [], data ? stampOf(data) : 0);
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
      fill
      title={
        <>
          {crumb} <span className={css.faint}>/</span>{' '}
          {data ? <Text title={title}>{title}</Text> : <Named name={undefined} kind={title} />}
        </>
      }
      aside={
        data && (
          <>
            <span className={css.summary}>
              {alone ? `${whole(data.rows)} rows` : `${experiments.length} experiments · ${whole(data.rows)} rows`}
              {tests > 0 && ` · ${alarmsText}`}
            </span>
            {toggle('statistics', 'Statistics', distributed.length > 0 || data.experiment_scores.length > 0)}
            {toggle('slices', 'Slices', own && candidate)}
            {toggle('labels', 'Labels', categories.length > 0)}
            {toggle('changed', 'What changed', own && candidate)}
            {toggle('distribution', 'Distribution', own && distributed.length > 0)}
            {toggle('gate', 'Gate', own && candidate)}
            {toggle('warnings', `Warnings ${whole(data.warnings.length)}`, data.warnings.length > 0)}
            <Copy text={window.location.href}>Copy link</Copy>
            {!alone && <Copy text={() => reported(data)}>Copy as Markdown</Copy>}
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
          {alone && own && w !== undefined && <RefusedItems workspace={w} session={experiments[0]!} />}
          {alone && own?.baseline.chosen && own.baseline.chosen !== experiments[0] && (
            <AgainstBaseline dataset={dataset} experiment={experiments[0]!} baseline={own.baseline.chosen} />
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
          {(search.rows ?? search.q ?? slice) !== undefined && (
            <p className={css.filter} role="status">
              {first?.data && !first.isPlaceholderData
                ? `${whole(first.data.page.total)} of ${whole(data.rows)} rows`
                : 'Looking for rows'}
              {search.rows !== undefined && (
                <>
                  {' · '}Only rows: <FilterName text={search.rows} names={names} />
                </>
              )}
              {search.q !== undefined && (
                <>
                  {' '}
                  that hold <Text>{search.q}</Text>
                </>
              )}
              {slice !== undefined && (
                <>
                  {' '}
                  of the slice <Text>{slice}</Text>
                </>
              )}{' '}
              <Button onClick={() => set({ rows: undefined, q: undefined, slice: undefined })}>Show all rows</Button>
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
            worst={
              own && (
                <Worse
                  slices={slices.data}
                  comparison={data}
                  focused={focused.data}
                  chosen={slice}
                  onChoose={ofSlice}
                />
              )
            }
            files={own?.saves ? { csv: exportPath(asked, 'csv'), jsonl: exportPath(asked, 'jsonl') } : undefined}
            onChange={(changed) => set(changed, true)}
          />
          <div className={search.row === undefined && open === undefined ? css.body : `${css.body} ${css.beside}`}>
            <Rows
              asked={shownRows}
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
                rows={{ ...neighbours, step: go(neighbours) }}
                regressions={worse === undefined ? undefined : { ...regressions, step: go(regressions) }}
                onCandidate={(id) => set({ candidate: id }, true)}
                onClose={() => set({ row: undefined })}
              />
            )}
            {search.row === undefined && open !== undefined && (
              <SidePanel key={open} name={PANEL_NAMES[open]} onClose={() => set({ panel: undefined })}>
                {open === 'statistics' && (
                  <Statistics comparison={data} focus={focus} compared={compared} alarms={alarmsText} />
                )}
                {own && open === 'slices' && candidate && (
                  <>
                    {slices.error && <Problem error={slices.error} retry={() => void slices.refetch()} />}
                    {(slices.data || !slices.error) && (
                      <SlicesPanel
                        slices={slices.data}
                        comparison={data}
                        chosen={slice}
                        onChoose={ofSlice}
                        measured={search.slices === 'measured'}
                        onMeasured={(measured) => set({ slices: measured ? 'measured' : undefined }, true)}
                      />
                    )}
                  </>
                )}
                {open === 'labels' && (
                  <Section title="Labels">
                    {categories.map((category) => (
                      <Category
                        key={category.key}
                        scored={data.keys.some(({ key }) => key === category.key)}
                        experiments={data.experiments}
                        filter={search.rows}
                        onFilter={(rows) => set({ rows, row: undefined })}
                        {...{ category, surviving }}
                      />
                    ))}
                  </Section>
                )}
                {open === 'warnings' && <Warnings comparison={data} />}
                {own && open === 'changed' && candidate && <WhatChanged comparison={data} candidate={candidate} />}
                {own && open === 'gate' && candidate && <Gate comparison={data} candidate={candidate} />}
                {own && open === 'distribution' && distributed.length > 0 && (
                  <Distributions
                    asked={asked}
                    comparison={data}
                    candidate={candidate}
                    shown={distributed.find((key) => key === search.of) ?? focus?.key ?? distributed[0]!}
                    onKey={(of) => set({ of }, true)}
                  />
                )}
              </SidePanel>
            )}
          </div>
        </>
      )}
    </Page>
  );
}

/** The experiments that are shown, in a few words. */
function titleOf(data: Comparison | undefined, alone: boolean): string {
  if (data && !alone && data.experiments.length > 1) return comparisonTitle(data.experiments);
  return data?.experiments[0]?.name ?? (alone ? 'Experiment' : 'Compare');
}

/** Result of one experiment against the baseline of its dataset. */
function AgainstBaseline({ dataset, experiment, baseline }: Record<'dataset' | 'experiment' | 'baseline', string>) {
  const { w = '-' } = useParams({ strict: false });
  const { data, isPending } = useSummary(dataset, experiment, baseline);
  if (isPending) return <Skeleton rows={1} />;
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
                <span aria-hidden="true">{verdict === 'better' ? '▲' : '▼'}</span> {verdict}
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

function FilterName({ text, names }: { text: string; names: ReadonlyMap<string, string> }) {
  const [experiment = '', kinds = '', ...key] = text.split(':');
  return (
    <b>
      <Text>{filterText(kinds)}</Text> in <Text>{names.get(experiment) ?? experiment}</Text> on{' '}
      <Text>{key.join(':')}</Text>
    </b>
  );
}

/** Gives the focus back when the row or the panel that is open closes and takes it along. */
function useReturn(open: string | undefined): void {
  const last = useRef(open);
  useEffect(() => {
    const closed = open === undefined ? last.current : undefined;
    last.current = open;
    if (closed === undefined || document.activeElement !== document.body) return;
    const opener = [...document.querySelectorAll<HTMLElement>('[data-opens]')].find(
      ({ dataset }) => dataset.opens === closed,
    );
    (opener ?? document.querySelector<HTMLElement>('[data-rows]'))?.focus();
  }, [open]);
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
