import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Dialog } from '../../ui/dialog';
import { Links } from '../../ui/list';
import { Choice, Form, SecretField, TextArea, TextField } from '../../ui/form';
import css from './connections.module.css';

const PAGES = [
  ['/o/$w/integrations', 'Code hosts'],
  ['/o/$w/providers', 'OAuth providers'],
  ['/o/$w/listeners', 'Listeners'],
  ['/o/$w/webhooks', 'Webhooks'],
  ['/o/$w/monitors', 'Monitors'],
] as const;

/** The kinds of connections with the world outside, as tabs. */
export function Kinds() {
  const { w } = useParams({ from: '/o/$w' });
  return (
    <Links label="Kinds of connections">
      {PAGES.map(([to, title]) => (
        <Link
          key={to}
          to={to}
          params={{ w }}
          activeProps={{ 'aria-current': 'page' }}
          activeOptions={{ includeSearch: false }}
        >
          {title}
        </Link>
      ))}
    </Links>
  );
}

/** A field of a form that makes something. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly first?: string;
  readonly kind?: 'text' | 'secret' | 'lines';
  readonly options?: Readonly<Record<string, string>>;
  readonly optional?: boolean;
}

export type Values = Readonly<Record<string, string>>;

interface CreateProps {
  readonly title: string;
  readonly action?: string;
  readonly fields: readonly FormField[];
  readonly lead?: ReactNode;
  /** Sends what was typed; its answer is given to `done`. */
  readonly send: (values: Values) => Promise<unknown>;
  readonly stale: QueryKey;
  readonly onClose: () => void;
  /** Renders the answer; without it the dialog closes by itself. */
  readonly done?: (answer: unknown) => ReactNode;
}

/** A dialog that makes something of what is typed into its fields; nothing that was typed is kept. */
export function CreateDialog({ title, action = 'Add', fields, lead, send, stale, onClose, done }: CreateProps) {
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, first = '' }) => [name, first])),
  );
  const [answer, setAnswer] = useState<ReactNode>();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: async () => {
      const found = await send(values);
      if (done) setAnswer(done(found));
    },
    gcTime: 0,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: stale });
      if (!done) onClose();
    },
  });
  const set = (name: string) => (event: { target: { value: string } }) =>
    setValues((now) => ({ ...now, [name]: event.target.value }));
  const missing = fields.some(({ name, optional }) => !optional && values[name]!.trim() === '');
  return (
    <Dialog title={title} onClose={onClose}>
      {answer ?? (
        <Form
          action={action}
          busy={create.isPending}
          disabled={missing}
          error={create.error}
          labels={Object.fromEntries(fields.map(({ name, label }) => [name, label]))}
          onSubmit={() => create.mutate()}
          onCancel={onClose}
        >
          {lead}
          {fields.map(({ name, label, hint, kind, options, optional }) => {
            const text = optional ? `${label} (optional)` : label;
            const rest = { value: values[name]!, onChange: set(name) };
            if (options) return <Choice key={name} label={text} options={options} {...rest} />;
            if (kind === 'lines') return <TextArea key={name} label={text} hint={hint} rows={3} {...rest} />;
            if (kind === 'secret') return <SecretField key={name} label={text} hint={hint} {...rest} />;
            return <TextField key={name} label={text} hint={hint} {...rest} />;
          })}
        </Form>
      )}
    </Dialog>
  );
}

interface RemoveProps {
  readonly name: string;
  readonly children: ReactNode;
  readonly send: () => Promise<unknown>;
  readonly stale: QueryKey;
  readonly onClose: () => void;
}

/** Removes something, once its name has been typed. */
export function RemoveDialog({ name, children, send, stale, onClose }: RemoveProps) {
  const [typed, setTyped] = useState('');
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: send,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: stale });
      onClose();
    },
  });
  return (
    <Dialog title="Remove" onClose={onClose}>
      <Form
        action="Remove for good"
        unsaved={false}
        danger
        busy={remove.isPending}
        disabled={typed !== name}
        error={remove.error}
        onSubmit={() => remove.mutate()}
        onCancel={onClose}
      >
        <p className={css.quiet}>{children}</p>
        <TextField label={`Type ${name}`} value={typed} onChange={(event) => setTyped(event.target.value)} />
      </Form>
    </Dialog>
  );
}
