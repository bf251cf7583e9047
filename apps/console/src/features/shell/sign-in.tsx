import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useSigning } from '../../api/session';
import { Dialog } from '../../ui/dialog';
import { isUnsaved, mayDiscard } from '../../ui/dirty';
import { Button } from '../../ui/parts';
import css from './shell.module.css';

interface SignInProps {
  readonly busy: boolean;
  readonly problem: string | undefined;
  readonly onKey: (key: string) => void;
}

/** The field for a key, which is cleared before the key is sent. */
export function KeyForm({ busy, problem, onKey }: SignInProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('key') as HTMLInputElement;
    const key = field.value.trim();
    field.value = '';
    if (key !== '') onKey(key);
  };
  return (
    <form onSubmit={submit} className={css.key}>
      <label htmlFor="key">API key</label>
      <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} disabled={busy} autoFocus />
      <p role="alert" className={css.problem}>
        {problem}
      </p>
      <Button kind="main" type="submit" disabled={busy}>
        {busy ? 'Signing in …' : 'Sign in'}
      </Button>
      <p className={css.hint}>
        <code>npm start</code> and <code>fairlead console</code> print a link that signs in. The key itself is not kept
        in this browser.
      </p>
      {window.location.protocol === 'http:' && !isLocal(window.location.hostname) && (
        <p className={css.warning}>This connection is not encrypted: anybody on the way can read the key.</p>
      )}
    </form>
  );
}

/** Signs in above a page whose session has ended; the page stays as it is. */
export function SignInDialog() {
  const queries = useQueryClient();
  const { signIn, leave } = useSigning();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [typed] = useState(isUnsaved);
  // Another page of this browser may have signed in meanwhile.
  useEffect(() => void queries.invalidateQueries({ queryKey: ['session'] }), [queries]);
  const enter = async (api_key: string) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn({ api_key });
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  const go = async () => {
    if (await mayDiscard(document, isUnsaved())) leave();
  };
  return (
    <Dialog narrow title="Sign in again">
      <div className={css.again}>
        <p>
          Your session has ended. The page stays as it is
          {typed && ', with what you typed, but for the values of secrets'}.
        </p>
        <KeyForm busy={busy} problem={problem} onKey={(key) => void enter(key)} />
        <Button kind="quiet" onClick={() => void go()}>
          Leave this page
        </Button>
      </div>
    </Dialog>
  );
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
