import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { printLossless } from '../../api/lossless';
import type { Comparison } from '../../api/client';
import { figure, plain, signed } from '../../ui/format';
import { Button, LongText, Problem, Sign, Skeleton, Text } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import css from './compare.module.css';
import { type Asked, useExample, useRowAround, useRun } from './data';
import { members, words } from './difference';
import { Labels, labelsChanged } from './labels';
import { Values } from './values';

interface RowPanelProps {
  readonly dataset: string;
  readonly comparison: Comparison;
  readonly asked: Asked;
  readonly example: string;
  /** Undefined while one experiment is shown alone. */
  readonly candidate: string | undefined;
  readonly onCandidate: (id: string) => void;
  readonly onClose: () => void;
}

/** One row in detail: its scores, and how an output differs from that of the baseline or from the reference. */
export function RowPanel(props: RowPanelProps) {
  const { dataset, comparison, asked, example: id, onCandidate, onClose } = props;
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
  const run = useRun(found?.cells[at]?.run_id);
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
  const place = row.data?.page.place;
  // A share link tells of the row with each of its runs.
  const told = run.data ?? base.data;
  const texts = w !== undefined ? example.data : told && { inputs: told.inputs, outputs: told.reference_outputs };
  const before = against === 'reference' ? texts?.outputs : base.data?.outputs;
  const error = row.error ?? example.error ?? run.error;
  return (
    <aside ref={panel} className={css.panel} aria-label="Row" tabIndex={-1}>
      <header>
        <h2>
          {place === null || place === undefined ? 'Row' : `Row ${place + 1}`}{' '}
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
                {keys.map(({ key, direction }, index) => {
                  const [was, is] = [found.cells[0]?.scores[index] ?? null, found.cells[at]?.scores[index] ?? null];
                  const change = was === null || is === null ? null : is - was;
                  const better = change !== null && change > 0 === (direction === 'higher is better');
                  return (
                    <tr key={key}>
                      <th scope="row">
                        <Text>{key}</Text>
                      </th>
                      {candidates.length > 0 && <td className={css.number}>{figure(was)}</td>}
                      <td className={css.number}>{figure(is)}</td>
                      {candidates.length > 0 && (
                        <td className={`${css.number} ${change ? (better ? css.up : css.down) : css.faint}`}>
                          {Boolean(change) && <Sign sign={better ? '▲' : '▼'}>{better ? 'better' : 'worse'}</Sign>}{' '}
                          {change === 0 ? '=' : signed(change)}
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
          {(found.cells[at]?.runs ?? 0) > 1 && (
            <p className={css.faint}>
              Scores are means of {found.cells[at]!.runs} runs; the texts are those of the newest one.
            </p>
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
            <Changes before={before} after={run.data.outputs} />
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

/** Differences of an output: members by their paths, texts by words. */
function Changes({ before, after }: { before: unknown; after: unknown }) {
  const { changed, same } = members(before, after);
  return (
    <section className={css.changes} aria-label="Differences of the output">
      {changed.length === 0 && <p className={css.same}>= the same output</p>}
      {changed.map(({ path, before: was, after: is }) => (
        <div key={path} className={css.change}>
          <code>
            <Text>{path === '' ? 'output' : path}</Text>
          </code>
          <Change before={was} after={is} />
        </div>
      ))}
      {changed.length > 0 && same > 0 && (
        <p className={css.faint}>{same === 1 ? '1 member is' : `${same} members are`} the same</p>
      )}
    </section>
  );
}

function Change({ before, after }: { before: unknown; after: unknown }) {
  const marked = typeof before === 'string' && typeof after === 'string' ? words(before, after) : undefined;
  if (!marked) {
    return (
      <p>
        {before !== undefined && (
          <del>
            <LongText>{text(before)}</LongText>
          </del>
        )}{' '}
        {after !== undefined && (
          <ins>
            <LongText>{text(after)}</LongText>
          </ins>
        )}
      </p>
    );
  }
  return (
    <p>
      {marked.map(({ kind, text: part }, index) => {
        const Part = { same: 'span', added: 'ins', removed: 'del' }[kind] as 'span';
        return (
          <Part key={index}>
            <Text>{part}</Text>
          </Part>
        );
      })}
    </p>
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : printLossless(value ?? null, 1);
}
