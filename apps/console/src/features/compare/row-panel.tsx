import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Comparison } from '../../api/client';
import { figure, plain, whole } from '../../ui/format';
import { MarkdownSwitch } from '../../ui/markdown-text';
import { Button, LongText, Problem, Skeleton, Text } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import css from './compare.module.css';
import { type Asked, useExample, useRowAround, useRowRuns, useRun } from './data';
import { Change, Feedback, Repetitions } from './feedback';
import { Labels, labelsChanged } from './labels';
import { type Mode, Outputs } from './outputs';
import { Values } from './values';

interface Regressions {
  readonly place: number | null | undefined;
  /** Number of those that stand before this row. */
  readonly before: number | null | undefined;
  readonly total: number | undefined;
  readonly step: (step: 1 | -1) => void;
}

interface RowPanelProps {
  readonly dataset: string;
  readonly comparison: Comparison;
  readonly asked: Asked;
  readonly example: string;
  /** Undefined while one experiment is shown alone. */
  readonly candidate: string | undefined;
  /** The rows that got worse on the key in focus: which of them this is, and how to the next; undefined without any. */
  readonly regressions: Regressions | undefined;
  readonly onCandidate: (id: string) => void;
  readonly onClose: () => void;
}

/** One row in detail: its scores, and how an output differs from that of the baseline or from the reference. */
export function RowPanel(props: RowPanelProps) {
  const { dataset, comparison, asked, example: id, regressions, onCandidate, onClose } = props;
  const { w } = useParams({ strict: false });
  const { experiments, keys, categories, baseline } = comparison;
  const candidates = experiments.filter((one) => one.id !== baseline);
  const candidate = props.candidate ?? experiments[0]!.id;
  const [against, setAgainst] = useState<'baseline' | 'reference'>(candidates.length > 0 ? 'baseline' : 'reference');
  // Also where the filter in use leaves the row out.
  const row = useRowAround({ ...asked, rows: undefined, q: undefined }, id);
  const example = useExample(dataset, id);
  const at = experiments.findIndex((one) => one.id === candidate);
  const found = row.data?.page.rows.find(({ example_id }) => example_id === id);
  const runs = useRowRuns(asked, id);
  const runsOf = (experiment: string) => runs.data?.experiments.find((one) => one.experiment === experiment);
  const own = runsOf(candidate);
  const [mode, setMode] = useState<Mode>('words');
  // Another candidate need not have as many repetitions.
  const [chosen, setChosen] = useState({ candidate, place: 0 });
  const place = chosen.candidate === candidate ? chosen.place : 0;
  const shown = own?.runs[place];
  const run = useRun(shown?.run_id ?? found?.cells[at]?.run_id);
  const base = useRun(found?.cells[0]?.run_id);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  const navigate = useNavigate();
  const page = w !== undefined && {
    to: '/o/$w/datasets/$dataset/e/$example' as const,
    params: { w, dataset, example: id },
    search: { selectedSessions: asked.experiments.join(), baseline: asked.baseline },
  };
  useShortcuts({ f: page ? () => void navigate(page) : undefined });
  const rowPlace = row.data?.page.place;
  const ofBaseline = candidates.length > 0 ? runsOf(baseline)?.runs[0] : undefined;
  // A share link tells of the row with each of its runs.
  const told = run.data ?? base.data;
  const texts = w !== undefined ? example.data : told && { inputs: told.inputs, outputs: told.reference_outputs };
  const before = against === 'reference' ? texts?.outputs : base.data?.outputs;
  const error = row.error ?? example.error ?? run.error ?? runs.error;
  return (
    <aside ref={panel} className={css.panel} aria-label="Row" tabIndex={-1}>
      <header>
        <h2>
          {rowPlace === null || rowPlace === undefined ? 'Row' : `Row ${rowPlace + 1}`}{' '}
          <span className={css.id}>{id.slice(0, 8)}</span>
        </h2>
        {page && (
          <Link {...page} className={css.whole} title="f">
            Full page
          </Link>
        )}
        <Button kind="quiet" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </Button>
      </header>
      {regressions && <Steps {...regressions} />}
      {error && <Problem error={error} />}
      {!found && !error && <Skeleton rows={4} />}
      {found && (
        <>
          <div className={css.choices}>
            {candidates.length > 1 && (
              <label>
                Output of{' '}
                <select value={candidate} onChange={(event) => onCandidate(event.target.value)}>
                  {candidates.map(({ id: one, name }) => (
                    <option key={one} value={one}>
                      {plain(name)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <label>
              against{' '}
              <select value={against} onChange={(event) => setAgainst(event.target.value as 'baseline' | 'reference')}>
                {candidates.length > 0 && <option value="baseline">baseline</option>}
                <option value="reference">reference</option>
              </select>
            </label>
            <label>
              by{' '}
              <select value={mode} onChange={(event) => setMode(event.target.value as Mode)}>
                <option value="words">words</option>
                <option value="lines">lines</option>
              </select>
            </label>
            <MarkdownSwitch />
          </div>
          {keys.length + categories.length > 0 && (
            <table className={css.rowScores}>
              <thead>
                <tr>
                  <th>Scores</th>
                  {candidates.length > 0 && <th className={css.number}>baseline</th>}
                  <th className={css.number}>
                    <Text>{experiments[at]?.name ?? ''}</Text>
                  </th>
                  {candidates.length > 0 && <th className={css.number}>change</th>}
                </tr>
              </thead>
              <tbody>
                {keys.map((keyed, index) => {
                  const [was, is] = [found.cells[0]?.scores[index] ?? null, found.cells[at]?.scores[index] ?? null];
                  return (
                    <tr key={keyed.key}>
                      <th scope="row">
                        <Text>{keyed.key}</Text>
                      </th>
                      {candidates.length > 0 && <td className={css.number}>{figure(was)}</td>}
                      <td className={css.number}>{figure(is)}</td>
                      {candidates.length > 0 && (
                        <td className={css.number}>
                          <Change score={is} before={was} keyed={keyed} />
                        </td>
                      )}
                    </tr>
                  );
                })}
                {categories.map(({ key }) => {
                  const [was, is] = [found.cells[0]?.labels[key], found.cells[at]?.labels[key]];
                  return (
                    <tr key={`labels ${key}`}>
                      <th scope="row">
                        <Text>{key}</Text>
                      </th>
                      {[...(candidates.length > 0 ? [was] : []), is].map((labels, place) => (
                        <td key={place} className={css.number}>
                          {labels ? <Labels of={labels} /> : '–'}
                        </td>
                      ))}
                      {candidates.length > 0 && (
                        <td className={css.number}>{was && is && (labelsChanged(was, is) ? '≠ changed' : '=')}</td>
                      )}
                    </tr>
                  );
                })}
              </tbody>
            </table>
          )}
          {own && own.run_count > 1 && (
            <>
              <p className={css.faint}>
                Scores are means of {own.run_count} runs; the texts and comments are those of run {place + 1}.
              </p>
              <Repetitions
                runs={own.runs}
                count={own.run_count}
                keys={keys}
                shown={place}
                onShow={(next) => setChosen({ candidate, place: next })}
              />
            </>
          )}
          {shown && (
            <section className={css.judged} aria-label="Feedback">
              {[{ name: experiments[at]?.name ?? '', of: shown, before: found.cells[0]?.scores }]
                .concat(ofBaseline ? [{ name: experiments[0]!.name, of: ofBaseline, before: undefined }] : [])
                .map(({ name, of, before: scores }) => (
                  <details key={of.run_id} open>
                    <summary>
                      <Text title={name}>{name}</Text>
                      {of === ofBaseline && <span className={css.base}>baseline</span>}
                    </summary>
                    <Feedback given={of.feedback} keys={keys} before={ofBaseline ? scores : undefined} />
                  </details>
                ))}
              {runs.data!.left_out && <p className={css.faint}>Older feedback on this row is left out.</p>}
            </section>
          )}
          {run.data?.error != null && (
            <div className={css.failure}>
              <b>Error</b>
              <pre tabIndex={0}>
                <LongText>{run.data.error}</LongText>
              </pre>
            </div>
          )}
          {found.cells[at] === null && <p className={css.faint}>This experiment has no such row.</p>}
          {run.data && before !== undefined && run.data.outputs !== undefined && (
            <Outputs
              before={before}
              after={run.data.outputs}
              names={[against === 'reference' ? 'reference' : experiments[0]!.name, experiments[at]?.name ?? '']}
              mode={mode}
            />
          )}
          {run.data && texts && (
            <Values
              values={{
                Output: run.data.outputs,
                Input: texts.inputs,
                Reference: w === undefined ? texts.outputs : (texts.outputs ?? null),
                Metadata: run.data.extra ?? run.data.metadata,
              }}
            />
          )}
        </>
      )}
    </aside>
  );
}

/** Goes to the next regression or the one before, and says where the list of them ends. */
function Steps({ place, before, total, step }: Regressions) {
  const isKnown = typeof total === 'number' && typeof before === 'number';
  const after = isKnown ? total - before - (typeof place === 'number' ? 1 : 0) : undefined;
  const ends = [before === 0 && 'none before', after === 0 && 'none after'].filter(Boolean).join(', ');
  return (
    <div className={css.steps}>
      {/* A button that were disabled would lose the focus at the end of the list. */}
      <Button title="p" aria-disabled={before === 0} onClick={() => before !== 0 && step(-1)}>
        ‹ Previous regression
      </Button>
      <Button title="n" aria-disabled={after === 0} onClick={() => after !== 0 && step(1)}>
        Next regression ›
      </Button>
      {isKnown && (
        <span className={css.faint} role="status">
          {typeof place === 'number'
            ? `${whole(place + 1)} of ${whole(total)}`
            : total === 1
              ? '1 regression'
              : `${whole(total)} regressions`}
          {ends !== '' && `, ${ends}`}
        </span>
      )}
    </div>
  );
}
