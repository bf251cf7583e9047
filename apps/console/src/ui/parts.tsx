import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react';
import { type Labels, sentencesOf } from '../api/sentence';
import { middle, plain, whole } from './format';
import css from './parts.module.css';
import { timeText, useTimes } from './times';

interface ButtonProps extends ComponentProps<'button'> {
  kind?: 'usual' | 'main' | 'quiet' | 'danger';
}

/** A button; `quiet` ones have no frame. */
export function Button({ kind = 'usual', ...rest }: ButtonProps) {
  return <button type="button" {...rest} className={`${css.button} ${css[kind]} ${rest.className ?? ''}`} />;
}

/** Text that was uploaded: it cannot turn the direction of what is around it. */
export function Text({ children, title }: { children: string; title?: string }) {
  return <bdi title={title && plain(title)}>{plain(children)}</bdi>;
}

interface NamedProps {
  readonly name: string | undefined;
  /** Word in its place while the name is not known. */
  readonly kind: string;
  /** Most characters that are shown. */
  readonly most?: number;
}

/** Name of a thing in the title of its page, which is shown once all of its names are known. */
export function Named({ name, kind, most = 80 }: NamedProps) {
  if (name === undefined) return <span data-unknown>{kind}</span>;
  return <Text title={name.slice(0, 1000)}>{middle(name, most)}</Text>;
}

/** Characters of a text that a browser lays out at once. */
const MOST_SHOWN = 40_000;

/** Text that was uploaded, however long it is: the rest of one that is too long to lay out is shown on request. */
export function LongText({ children }: { children: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || children.length <= MOST_SHOWN) return <Text>{children}</Text>;
  return (
    <>
      <Text>{children.slice(0, MOST_SHOWN)}</Text>…{' '}
      <Button onClick={() => setWhole(true)}>Show all {whole(children.length)} characters</Button>
    </>
  );
}

/** Words for those who hear the page, beside something that says the same to those who see it. */
export function Unseen({ children }: { children: ReactNode }) {
  return <span className={css.unseen}>{children}</span>;
}

/** A sign that says something by its shape, and the words for it. */
export function Sign({ sign, children }: { sign: string; children: string }) {
  return (
    <>
      <span aria-hidden="true">{sign}</span>
      <Unseen>{children}</Unseen>
    </>
  );
}

/** A time in the form that was chosen; a click on one that is relative shows it exactly, and its title always does. */
export function Time({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now());
  const [isExact, setExact] = useState(false);
  const times = useTimes();
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const shown = times === 'relative' && isExact ? 'local' : times;
  return (
    <time dateTime={at} title={timeText(at, 'utc', now)} onClick={() => setExact(!isExact)}>
      {timeText(at, shown, now)}
    </time>
  );
}

interface Refused extends Error {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly more?: { readonly scope?: string; readonly retryAfter?: number; readonly faults?: unknown };
}

interface ProblemProps {
  readonly error: Error;
  readonly retry?: () => void;
  /** Words for what a key may lack a scope for, such as `read the audit log`. */
  readonly reading?: string;
  /** Labels of the form that was refused. */
  readonly labels?: Labels;
}

/** An error, as a sentence. */
export function Problem({ error, retry, reading, labels }: ProblemProps) {
  const { status, requestId, more } = error as Refused;
  const scope = more?.scope;
  const sentence =
    status === undefined
      ? 'The service cannot be reached.'
      : status === 403 && reading !== undefined
        ? `This key may not ${reading}${scope === undefined ? '' : `: it needs the scope ${scope}`}.`
        : ((labels && sentencesOf(more?.faults, labels)) ?? error.message);
  return (
    <div className={css.problem} role="alert">
      <p>
        <Text>{sentence}</Text>
      </p>
      {requestId && (
        <p className={css.note}>
          Request <code>{requestId}</code>
        </p>
      )}
      {retry && more?.retryAfter !== undefined && <Countdown of={error} seconds={more.retryAfter} onEnd={retry} />}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Tries again by itself when the service said that it may be asked again; whoever hears the page hears no numbers. */
function Countdown({ of, seconds, onEnd }: { of: Error; seconds: number; onEnd: () => void }) {
  const [left, setLeft] = useState(seconds);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    const until = Date.now() + Math.max(seconds, 1) * 1000;
    const look = () => {
      const rest = Math.ceil((until - Date.now()) / 1000);
      setLeft(Math.max(rest, 0));
      if (rest > 0) return;
      clearInterval(timer);
      end.current();
    };
    const timer = setInterval(look, 250);
    look();
    return () => clearInterval(timer);
  }, [of, seconds]);
  return (
    <p className={css.note}>
      <span aria-hidden="true">{left > 0 ? `Trying again in ${left} s.` : 'Trying again …'}</span>
      <Unseen>It is tried again by itself.</Unseen>
    </p>
  );
}

/** The place of what is being loaded, once that takes a moment. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div className={css.skeleton} role="progressbar" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}

interface PageProps {
  readonly title: ReactNode;
  readonly aside?: ReactNode;
  /** It is as high as the window, and parts of it scroll. */
  readonly fill?: boolean;
  readonly children: ReactNode;
}

/** A page: its title, what stands beside it, and its content. */
export function Page({ title, aside, fill, children }: PageProps) {
  return (
    <main className={css.page} id="content" tabIndex={-1} data-fill={fill}>
      <header className={css.head}>
        <h1>{title}</h1>
        <div className={css.aside}>{aside}</div>
      </header>
      {children}
    </main>
  );
}

interface CopyProps {
  readonly text: string | (() => Promise<string>);
  readonly children: ReactNode;
  readonly kind?: 'usual' | 'quiet';
}

/** Copies a text, or what is read for it then, and says so. */
export function Copy({ text, children, kind }: CopyProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
    setCopied(true);
  };
  return (
    <Button kind={kind} onClick={() => void copy()}>
      <span aria-live="polite">{copied ? 'Copied' : children}</span>
    </Button>
  );
}

/** Sets the title of the document while it is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${plain(title)} · Fairlead`;
  }, [title]);
}
