import { useNavigate, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useSession, useSigning } from '../../api/session';
import { useTitle } from '../../ui/parts';
import css from './shell.module.css';
import { KeyForm } from './sign-in';

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

  return (
    <main className={css.login}>
      <div className={css.card}>
        <Mark />
        <h1>Sign in to Fairlead</h1>
        <KeyForm busy={busy} problem={problem} onKey={(api_key) => void enter({ api_key })} />
      </div>
    </main>
  );
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
