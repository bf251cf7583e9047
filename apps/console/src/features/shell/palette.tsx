import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent as Press, useEffect, useId, useRef, useState } from 'react';
import { answered, api } from '../../api/client';
import { Dialog } from '../../ui/dialog';
import { middle } from '../../ui/format';
import { Text } from '../../ui/parts';
import { shortcutsOn, switchShortcuts } from '../../ui/shortcuts';
import { PAGES, pagesNamed, type Path } from './keys';
import css from './shell.module.css';

/** A place to go to: a page, or something of the workspace that has a page of its own. */
interface Target {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly go: () => void;
}

/** Goes to a page, a dataset, an experiment or a deployment by a part of its name. */
export function Palette({ w, onGo, onClose }: { w: string; onGo: (to: Path) => void; onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  // The dialog, which opens before this effect, gives the focus to its first button.
  useEffect(() => field.current!.focus(), []);
  const { things, note } = useThings(w, text, onClose);
  const pages = pagesNamed(text).map(([to, name, letter]): Target => {
    return { id: to, name, hint: letter === '' ? '' : `g ${letter}`, go: () => onGo(to) };
  });
  const found = [...pages, ...things];
  const move = (event: Press) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || found.length === 0) return;
    event.preventDefault();
    setAt((at + step + found.length) % found.length);
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form
        className={css.palette}
        onSubmit={(event) => {
          event.preventDefault();
          found[at]?.go();
        }}
      >
        <input
          ref={field}
          role="combobox"
          aria-label="Name"
          aria-autocomplete="list"
          aria-expanded={found.length > 0}
          aria-controls={id}
          aria-activedescendant={found[at] && `${id}-${at}`}
          autoComplete="off"
          spellCheck={false}
          placeholder="Page, dataset, experiment or deployment"
          value={text}
          onKeyDown={move}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
        />
        {found.length > 0 && (
          <ul id={id} role="listbox" aria-label="Pages and things">
            {found.map(({ id: key, name, hint, go }, index) => (
              <li key={key} id={`${id}-${index}`} role="option" aria-selected={index === at} onClick={go}>
                <Text title={name}>{middle(name, 56)}</Text>
                {hint !== '' && <kbd>{hint}</kbd>}
              </li>
            ))}
          </ul>
        )}
        <p role="status" className={css.hint}>
          {note ?? (found.length === 0 && `Nothing has “${text}” in its name.`)}
        </p>
      </form>
    </Dialog>
  );
}

/**
 * Datasets, experiments and deployments whose names hold a text, once it is more than a letter; `note` says why there
 * may be others.
 */
function useThings(w: string, text: string, onClose: () => void): { things: Target[]; note?: string } {
  const navigate = useNavigate();
  const q = text.trim();
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['search', w, q],
    queryFn: ({ signal }) => answered(api.GET('/v1/search', { params: { query: { q } }, signal })),
    enabled: q.length > 1,
    placeholderData: keepPreviousData,
  });
  if (q.length === 0) return { things: [] };
  if (q.length === 1) return { things: [], note: 'Datasets, experiments and deployments are found by two letters.' };
  if (error) return { things: [], note: `Only pages are listed: ${error.message}` };
  if (!data) return { things: [], note: 'Looking …' };
  // Of what was found for the text before: a key that opens the first one must not open another one than is meant.
  const fits = ({ name }: { name: string }) => !isPlaceholderData || name.toLowerCase().includes(q.toLowerCase());
  const things = data.resources.filter(fits).map(({ kind, id, name, dataset_id: dataset }) => ({
    id,
    name,
    hint: kind,
    go: () => {
      onClose();
      if (kind === 'deployment') {
        void navigate({ to: '/o/$w/host/deployments/$deployment', params: { w, deployment: id } });
      } else if (kind === 'experiment') {
        const search = { selectedSessions: id };
        void navigate({ to: '/o/$w/datasets/$dataset/compare', params: { w, dataset: dataset! }, search });
      } else void navigate({ to: '/o/$w/datasets/$dataset', params: { w, dataset: id } });
    },
  }));
  return { things, note: isPlaceholderData ? 'Looking …' : undefined };
}

const EVERYWHERE = [
  ['Ctrl K or ⌘ K', 'Go to a page or a thing by its name'],
  ...PAGES.flatMap(([, name, letter]) => (letter === '' ? [] : [[`g ${letter}`, name] as const])),
  ['/', 'Filter what the page lists'],
  ['?', 'These shortcuts'],
] as const;
const EXPERIMENTS = [
  ['j k', 'Next and previous experiment; Enter opens it'],
  ['x', 'Tick the experiment'],
  ['c', 'Compare what is ticked'],
] as const;
const COMPARISON = [
  ['j k', 'Open the next or the previous row; so do the arrow keys'],
  ['f', 'Open the row as a page of its own'],
  ['[ ]', 'Previous and next candidate'],
  ['n p', 'Next and previous row in which the candidate got worse'],
  ['b', 'Make the candidate the baseline'],
  ['w', 'Only rows in which the candidate is worse'],
  ['1 – 9', 'The score with this place'],
  ['d', 'Begin outputs at their first difference, or whole'],
  ['s', 'Fold the statistics away'],
] as const;
const TRACES = [
  ['j k', 'Next and previous run; in a list, Enter opens it'],
  ['x', 'Tick the run, to export it or add it to a dataset'],
  ['h l', 'Fold and unfold what is below a run of a trace'],
  ['e E', 'Next and previous run that failed'],
  ['a d', 'Add feedback on the run, or the run to a dataset'],
] as const;
const SHORTCUTS = [
  ['On every page', EVERYWHERE],
  ['In a list of experiments', EXPERIMENTS],
  ['In a comparison', COMPARISON],
  ['In traces', TRACES],
] as const;

/** Lists the shortcuts, and switches them off in this browser. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(shortcutsOn);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className={css.shortcuts}>
        {SHORTCUTS.map(([where, keys]) => (
          <table key={where}>
            <caption>{where}</caption>
            <tbody>
              {keys.map(([key, text]) => (
                <tr key={key}>
                  <th scope="row">
                    <kbd>{key}</kbd>
                  </th>
                  <td>{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
      <label className={css.switch}>
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => {
            switchShortcuts(event.target.checked);
            setOn(event.target.checked);
          }}
        />{' '}
        Use shortcuts in this browser
      </label>
      <p className={css.hint}>In a field, every key writes. Escape closes a dialog or a row, also without shortcuts.</p>
    </Dialog>
  );
}
