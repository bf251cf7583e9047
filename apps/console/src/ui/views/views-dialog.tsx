import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api } from '../../api/client';
import { useMay } from '../../api/session';
import { Action } from '../action';
import { useAddress } from '../address';
import { ask } from '../ask';
import { Dialog } from '../dialog';
import { Form, TextField } from '../form';
import { middle } from '../format';
import { Problem, Text, Time } from '../parts';
import { type SavedView, viewOf } from './views';
import css from '../columns/columns.module.css';

interface ViewsProps {
  readonly page: SavedView['page'];
  readonly views: readonly SavedView[];
  /** The view that the address names. */
  readonly current: SavedView | undefined;
  readonly onClose: () => void;
}

/** Saves what a list shows under a name, for everybody in the workspace; a name that is there is overwritten. */
export function ViewsDialog({ page, views, current, onClose }: ViewsProps) {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const queries = useQueryClient();
  const may = useMay('write');
  const [name, setName] = useState(current?.name ?? '');
  const same = views.find((one) => one.name === name.trim());
  const refresh = () => queries.invalidateQueries({ queryKey: ['views', w] });
  const save = useMutation({
    mutationFn: () => {
      const parameters = viewOf(search);
      if (!same) return answered(api.POST('/v1/views', { body: { page, name: name.trim(), parameters } }));
      const params = { path: { view_id: same.id } };
      return answered(api.PATCH('/v1/views/{view_id}', { params, body: { parameters } }));
    },
    onSuccess: async ({ id }) => {
      await refresh();
      change({ view: id }, 'replace');
      onClose();
    },
  });
  const remove = useMutation({
    mutationFn: async (id: string) => {
      await answered(api.DELETE('/v1/views/{view_id}', { params: { path: { view_id: id } } }));
      return id;
    },
    onSuccess: async (id) => {
      await refresh();
      if (id === search.view) change({ view: undefined }, 'replace');
    },
  });
  const confirm = async (id: string, one: string) => {
    const answer = await ask({
      title: `Delete the view ${one}?`,
      text: 'Nobody in the workspace has it any more.',
      answers: { keep: 'Keep it', delete: 'Delete it' },
      danger: true,
    });
    if (answer === 'delete') remove.mutate(id);
  };
  return (
    <Dialog title="Views" onClose={onClose}>
      {!may && <p role="note">Your key lacks the scope write, which saving a view needs.</p>}
      {may && (
        <Form
          action={same ? 'Save the changes' : 'Save'}
          onSubmit={() => save.mutate()}
          busy={save.isPending}
          disabled={name.trim() === ''}
          error={save.error}
        >
          <TextField
            label="Name for what the list shows now"
            hint={same ? 'The view of this name will show this.' : 'Everybody in the workspace sees it.'}
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Form>
      )}
      {views.length > 0 && (
        <ul className={css.list} aria-label="Saved views">
          {views.map(({ id, name: one, updated_at }) => (
            <li key={id}>
              <Text title={one}>{middle(one, 48)}</Text>
              <span className={css.buttons}>
                <Time at={updated_at} />
                <Action
                  scope="write"
                  kind="quiet"
                  aria-label={`Delete the view ${one}`}
                  disabled={remove.isPending}
                  onClick={() => void confirm(id, one)}
                >
                  Delete
                </Action>
              </span>
            </li>
          ))}
        </ul>
      )}
      {remove.error && <Problem error={remove.error} />}
    </Dialog>
  );
}
