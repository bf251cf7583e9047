import { useNavigate, useLocation } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useSession, useSigning } from '../../api/session';
import { Button, useTitle } from '../../ui/parts';
import css from './shell.module.css';

/** The code of a link, read once: before anything is sent, it is taken out of the address and the history. */
function takeCode(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (code !== undefined) window.history.replaceState(null, '', '/login');
  return code;
}

let taken: string | undefined = takeCode();

/** Signs in with the code of a link, or with a key. */
export function Login() {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const session = useSession();
  const { signIn } = useSigning();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(taken !== undefined);
  const began = useRef(false);
  useTitle('Sign in');

  const enter = async (body: { api_key: string } | { code: string }) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(body);
      if (pathname === '/login') await navigate({ to: '/', replace: true });
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const isKnown = session.data !== undefined || session.error !== null;
  useEffect(() => {
    if (began.current || !isKnown) return;
    began.current = true;
    const code = taken;
    taken = undefined;
    if (code !== undefined) void enter({ code });
    else if (pathname === '/login' && session.data) void navigate({ to: '/', replace: true });
  });

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('key') as HTMLInputElement;
    const key = field.value.trim();
    field.value = '';
    if (key !== '') void enter({ api_key: key });
  };

  return (
    <main className={css.login}>
      <form onSubmit={submit} className={css.card}>
        <Mark />
        <h1>Sign in to Fairlead</h1>
        <label htmlFor="key">API key</label>
        <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} disabled={busy} autoFocus />
        <p role="alert" className={css.problem}>
          {problem}
        </p>
        <Button kind="main" type="submit" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </Button>
        <p className={css.hint}>
          <code>npm start</code> and <code>fairlead console</code> print a link that signs in. The key itself is not
          kept in this browser.
        </p>
        {window.location.protocol === 'http:' && !isLocal(window.location.hostname) && (
          <p className={css.warning}>This connection is not encrypted: anybody on the way can read the key.</p>
        )}
      </form>
    </main>
  );
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}

/** The sign of the product. */
export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" fill="var(--better)" />
      <path
        d="M5 12V4h6M5 8h5"
        fill="none"
        stroke="var(--bg)"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
