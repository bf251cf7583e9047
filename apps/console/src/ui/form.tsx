import {
  type ChangeEvent,
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useEnded } from '../api/held';
import type { Labels } from '../api/sentence';
import { DIRTY } from './dirty';
import css from './form.module.css';
import { plain } from './format';
import { Button, Problem, Text } from './parts';
import { toldSince } from './typed';

const TYPING_MS = 250;

/** A label above a control of one's own; the control takes the `id`. */
function Field({ label, hint, children }: { label: string; hint?: ReactNode; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className={css.field}>
      <label htmlFor={id}>
        <Text>{label}</Text>
      </label>
      {children(id)}
      {hint && <p className={css.hint}>{hint}</p>}
    </div>
  );
}

/** A labelled line of text. */
export function TextField({ label, hint, ...rest }: ComponentProps<'input'> & { label: string; hint?: ReactNode }) {
  return (
    <Field label={label} hint={hint}>
      {(id) => <input id={id} className={css.input} autoComplete="off" spellCheck={false} {...rest} />}
    </Field>
  );
}

/** The field for why; it is kept with the change. */
interface ReasonProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly required?: boolean;
}

export function Reason({ value, onChange, required }: ReasonProps) {
  return (
    <TextField
      label="Reason, kept in the history"
      name="reason"
      maxLength={1000}
      required={required}
      value={value}
      placeholder="1.14 was slow"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/**
 * A field for a secret. What is typed is its value alone: React would write it into the attribute `value` as well. It is
 * cleared when the session ends.
 */
export function SecretInput({ value, ...rest }: ComponentProps<'input'> & { value: string }) {
  const ref = useRef<HTMLInputElement>(null);
  const ended = useEnded();
  useEffect(() => {
    if (!ended || value === '') return;
    ref.current!.value = '';
    rest.onChange?.({ target: ref.current!, currentTarget: ref.current! } as ChangeEvent<HTMLInputElement>);
  }, [ended]);
  useLayoutEffect(() => {
    if (ref.current!.value !== value) ref.current!.value = value;
  }, [value]);
  return <input ref={ref} type="password" autoComplete="new-password" spellCheck={false} {...rest} />;
}

/** A labelled field for a secret. */
export function SecretField({
  label,
  hint,
  ...rest
}: ComponentProps<typeof SecretInput> & { label: string; hint?: ReactNode }) {
  return (
    <Field label={label} hint={hint}>
      {(id) => <SecretInput id={id} className={css.input} {...rest} />}
    </Field>
  );
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, ...rest }: ComponentProps<'textarea'> & { label: string; hint?: ReactNode }) {
  return (
    <Field label={label} hint={hint}>
      {(id) => <textarea id={id} className={css.area} spellCheck={false} {...rest} />}
    </Field>
  );
}

/** A labelled choice; `options` are the texts by their values. */
export function Choice({
  label,
  options,
  ...rest
}: ComponentProps<'select'> & { label: string; options: Readonly<Record<string, string>> }) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} className={css.select} {...rest}>
          {Object.entries(options).map(([value, text]) => (
            <option key={value} value={value}>
              {plain(text)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Filters that stand in one line above a list. */
export function Filters({ children }: { children: ReactNode }) {
  return (
    <div className={css.filters} role="search">
      {children}
    </div>
  );
}

interface TypedProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly placeholder?: string;
  /** The field that the key `/` goes to. */
  readonly main?: boolean;
}

/** A field that tells what was typed once the typing rests. */
export function Typed({ label, value, onChange, placeholder = label, main }: TypedProps) {
  const [text, setText] = useState(value);
  const told = useRef<readonly string[]>([value]);
  useEffect(() => {
    const since = toldSince(told.current, value);
    told.current = since ?? [value];
    if (!since) setText(value);
  }, [value]);
  useEffect(() => {
    if (text === told.current.at(-1)) return undefined;
    const timer = setTimeout(() => {
      told.current = [...told.current, text];
      onChange(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      className={main ? css.mainFilter : css.filter}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      data-slash={main}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

interface PickProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: Readonly<Record<string, string>>;
}

/** A choice in a line of filters; its first option is that of no filter. */
export function Pick({ label, value, onChange, options }: PickProps) {
  return (
    <select
      className={css.pick}
      aria-label={label}
      value={value}
      data-set={value !== Object.keys(options)[0]}
      onChange={(event) => onChange(event.target.value)}
    >
      {Object.entries(options).map(([key, text]) => (
        <option key={key} value={key}>
          {plain(text)}
        </option>
      ))}
    </select>
  );
}

interface FormProps {
  /** Label of the button that sends it. */
  readonly action: string;
  readonly onSubmit: () => void;
  readonly onCancel?: () => void;
  readonly busy: boolean;
  readonly disabled?: boolean;
  readonly danger?: boolean;
  readonly error?: Error | null;
  /** Labels of its fields, for sentences about what the service refuses. */
  readonly labels?: Labels;
  /** True: it holds something already that would be lost. False: what is typed is nothing to keep. */
  readonly unsaved?: boolean;
  readonly children: ReactNode;
}

/**
 * A form with its buttons; what the service refuses stands above them. What is typed makes it one that a person is asked
 * about before it goes.
 */
export function Form(props: FormProps) {
  const { action, onSubmit, onCancel, busy, disabled, danger, error, labels, unsaved, children } = props;
  const ref = useRef<HTMLFormElement>(null);
  const mark = (state: 'typed' | 'sent') => ref.current!.setAttribute(DIRTY, state);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy || disabled) return;
    if (ref.current!.hasAttribute(DIRTY)) mark('sent');
    onSubmit();
  };
  useEffect(() => {
    if (unsaved) mark('typed');
  }, [unsaved]);
  useEffect(() => {
    if (error && ref.current!.hasAttribute(DIRTY)) mark('typed');
  }, [error]);
  return (
    <form
      ref={ref}
      className={css.form}
      onSubmit={submit}
      onInput={() => unsaved !== false && mark('typed')}
      noValidate
    >
      {children}
      {error && <Problem error={error} labels={labels} />}
      <div className={css.buttons}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button kind={danger ? 'danger' : 'main'} type="submit" disabled={busy || disabled}>
          {busy ? 'One moment …' : action}
        </Button>
      </div>
    </form>
  );
}
