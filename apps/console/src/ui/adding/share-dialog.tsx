import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api } from '../../api/client';
import { Dialog } from '../dialog';
import { Choice, Form } from '../form';
import { Button, Copy, Problem, Time } from '../parts';
import css from '../share.module.css';
import { day, type Hideable, hides, NAMES, type Shareable } from './share-parts';

const DAY_MS = 86_400_000;
/** Links that are listed, the newest. */
const MOST_LISTED = 100;
const DAYS = { '1': 'for a day', '7': 'for 7 days', '30': 'for 30 days', '90': 'for 90 days' };

/** Makes a share link, and lists those that are open. */
export function ShareDialog({ what, onClose }: { what: Shareable; onClose: () => void }) {
  const { w } = useParams({ strict: false });
  const queries = useQueryClient();
  const [hidden, setHidden] = useState<readonly Hideable[]>([]);
  const [days, setDays] = useState('30');
  const create = useMutation({
    mutationFn: () => {
      const expires_at = new Date(Date.now() + Number(days) * DAY_MS - 60_000).toISOString();
      return answered(api.POST('/v1/shares', { body: { ...what, hide: [...hidden], expires_at } }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['share links', w] }),
  });
  const toggle = (member: Hideable) =>
    setHidden((now) => (now.includes(member) ? now.filter((one) => one !== member) : [...now, member]));
  const address = create.data && `${window.location.origin}${create.data.path}`;
  return (
    <Dialog title={what.kind === 'run' ? 'Share this run' : 'Share this comparison'} onClose={onClose}>
      {address === undefined ? (
        <Form
          action="Make a link"
          onSubmit={() => create.mutate()}
          onCancel={onClose}
          busy={create.isPending}
          error={create.error}
        >
          <p>Whoever has the link can read, without a key, until it ends or is deleted.</p>
          <fieldset className={css.hide}>
            <legend>Hide</legend>
            {Object.entries(NAMES).map(([member, name]) => (
              <label key={member}>
                <input
                  type="checkbox"
                  checked={hidden.includes(member as Hideable)}
                  onChange={() => toggle(member as Hideable)}
                />{' '}
                {name}
              </label>
            ))}
          </fieldset>
          <Choice label="Open" options={DAYS} value={days} onChange={(event) => setDays(event.target.value)} />
        </Form>
      ) : (
        <div ref={focus} tabIndex={-1} className={css.made}>
          <p>This link is shown only now. To end it sooner, delete it below.</p>
          <code className={css.link}>{address}</code>
          <div className={css.buttons}>
            <Copy text={address}>Copy link</Copy>
            <a href={create.data!.path} target="_blank" rel="noreferrer">
              Open it
            </a>
          </div>
        </div>
      )}
      <Links />
    </Dialog>
  );
}

/** The links of the workspace that are open, each of which can be deleted. */
function Links() {
  const { w } = useParams({ strict: false });
  const queries = useQueryClient();
  const links = useQuery({
    queryKey: ['share links', w],
    queryFn: ({ signal }) => answered(api.GET('/v1/shares', { params: { query: { limit: MOST_LISTED } }, signal })),
  });
  const end = useMutation({
    mutationFn: (share_id: string) => answered(api.DELETE('/v1/shares/{share_id}', { params: { path: { share_id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['share links', w] }),
  });
  const error = links.error ?? end.error;
  const found = links.data?.resources ?? [];
  return (
    <section className={css.links}>
      <h3>Open links of this workspace</h3>
      {error && <Problem error={error} />}
      {links.data && found.length === 0 && <p className={css.quiet}>None.</p>}
      <ul>
        {found.map(({ id, kind, experiments, hidden, created_at, expires_at }) => (
          <li key={id}>
            <span>
              {kind === 'run'
                ? 'A run'
                : experiments.length === 1
                  ? 'An experiment'
                  : `${experiments.length} experiments`}
              <span className={css.quiet}>
                {' '}
                made <Time at={created_at} />, until {day(expires_at)}, {hides(hidden)}
              </span>
            </span>
            <Button
              kind="quiet"
              aria-label={`Delete the link until ${day(expires_at)}`}
              disabled={end.isPending}
              onClick={() => end.mutate(id)}
            >
              Delete
            </Button>
          </li>
        ))}
      </ul>
      {found.length === MOST_LISTED && <p className={css.quiet}>There may be older ones, which the API lists.</p>}
    </section>
  );
}

/** Takes the keyboard, and those who hear the page, to what has come in the place of a form. */
function focus(element: HTMLElement | null): void {
  element?.focus();
}
