import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Comparison } from '../../api/client';
import { Adding } from '../../ui/adding/adding';
import { figure, plain, whole } from '../../ui/format';
import { MarkdownSwitch } from '../../ui/markdown/markdown-text';
import { Button, LongText, Problem, Skeleton, Text, Unseen } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import css from './compare.module.css';
import { type Asked, type Steps, useExample, useRowAround, useRowRuns, useRun } from './data';
import { Change, Feedback, Repetitions } from './feedback';
import { Labels, labelsChanged } from './labels';
import { type Mode, Outputs } from './outputs';
import { Values } from '../../ui/values/values';

interface Stepping extends Omit<Steps, 'find'> {
  readonly step: (step: 1 | -1) => void;
}

interface RowPanelProps {
  readonly dataset: string;
  readonly comparison: Comparison;
  readonly asked: Asked;
  readonly example: string;
  /** Undefined while one experiment is shown alone. */
  readonly candidate: string | undefined;
  /** The rows of the list. */
  readonly rows: Stepping;
  /** The rows that got worse on the key in focus; undefined where nothing is compared. */
  readonly regressions: Stepping | undefined;
  readonly onCandidate: (id: string) => void;
  readonly onClose: () => void;
}

/** One row in detail: its scores, and how an output differs from that of the baseline or from the reference. */
export function RowPanel(props: RowPanelProps) {
  const { dataset, comparison, asked, example: id, rows, regressions, onCandidate, onClose } = props;
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
  const shownRun = shown?.run_id ?? found?.cells[at]?.run_id;
  const run = useRun(shownRun);
  const base = useRun(found?.cells[0]?.run_id);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const button = [...panel.current!.querySelectorAll<HTMLElement>('[data-step]')].find(
      ({ dataset: { step } }) => step === pressed,
    );
    pressed = undefined;
    (button ?? panel.current!).focus();
  }, []);
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
        <span className={css.through}>
          <StepButton steps={rows} by={-1} label="Previous row" shortcut="k">
            ↑
          </StepButton>
          <StepButton steps={rows} by={1} label="Next row" shortcut="j">
            ↓
          </StepButton>
        </span>
        {page && (
          <Link {...page} className={css.whole} title="f">
            Full page
          </Link>
        )}
        <Button kind="quiet" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </Button>
      </header>
      <div className={css.steps}>
        {regressions && <Regressions steps={regressions} />}
        {w !== undefined && shownRun && (
          <>
            <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session: candidate, run: shownRun }}>
              Trace
            </Link>
            <Adding key={shownRun} run={shownRun} />
          </>
        )}
      </div>
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
          {(run.isLoading || base.isLoading) && <Skeleton rows={3} />}
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

/** The button that was used last to go to another row: the panel of that row gives it the focus. */
let pressed: string | undefined;

interface StepButtonProps {
  readonly steps: Stepping;
  readonly by: 1 | -1;
  readonly label: string;
  readonly shortcut: string;
  readonly children: string;
}

/** Goes to the next row or the one before. At the end of the rows it keeps the focus, which a disabled one would lose. */
function StepButton({ steps, by, label, shortcut, children }: StepButtonProps) {
  const isEnd = (by === 1 ? steps.after : steps.before) === 0;
  const go = () => {
    if (isEnd) return;
    pressed = label;
    steps.step(by);
  };
  return (
    <Button title={shortcut} data-step={label} aria-label={label} aria-disabled={isEnd} onClick={go}>
      {children}
    </Button>
  );
}

/** Goes through the regressions, and says where they end. */
function Regressions({ steps }: { steps: Stepping }) {
  const { place, before, after, total } = steps;
  const ends = [before === 0 && 'none before', after === 0 && 'none after'].filter(Boolean).join(', ');
  return (
    <span className={css.through}>
      <StepButton steps={steps} by={-1} label="Previous regression" shortcut="p">
        ‹ Regression
      </StepButton>
      <StepButton steps={steps} by={1} label="Next regression" shortcut="n">
        Regression ›
      </StepButton>
      <span className={css.place} role="status">
        {total !== undefined && before !== undefined && (
          <>
            {typeof place === 'number' ? `${whole(place + 1)} of ${whole(total)}` : `of ${whole(total)}`}
            {ends !== '' && <Unseen>, {ends}</Unseen>}
          </>
        )}
      </span>
    </span>
  );
}
