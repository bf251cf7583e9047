import { Outlet, useLocation } from '@tanstack/react-router';
import { useEnded } from '../../api/held';
import { useSession } from '../../api/session';
import { Page, useTitle } from '../../ui/parts';
import { Questions } from '../../ui/questions';
import { Login } from './login';
import css from './shell.module.css';
import { SignInDialog } from './sign-in';

const NOT_OFFERED = /^\/(?:hub|prompts|context)(?:\/|$)/;
const SHARED = /^\/public\//;

/** The page at the address, once somebody is signed in where that is needed; the address stays meanwhile. */
export function Root() {
  const { pathname } = useLocation();
  if (NOT_OFFERED.test(pathname)) return <NotOffered />;
  return (
    <>
      {SHARED.test(pathname) ? <Outlet /> : <SignedIn login={pathname === '/login'} />}
      <Questions />
    </>
  );
}

function SignedIn({ login }: { login: boolean }) {
  // Until it is known who is signed in, the frame stands alone.
  const session = useSession().data;
  const ended = useEnded();
  if (session === null || login) return <Login />;
  return (
    <>
      <Outlet />
      {ended && <SignInDialog />}
    </>
  );
}

/** Page in the place of one that does not exist. */
export function NotFound() {
  useTitle('No such page');
  return (
    <Page title="There is no such page">
      <p>
        <a href="/">Go to the experiments</a>
      </p>
    </Page>
  );
}

function NotOffered() {
  return (
    <main className={css.notice}>
      <h1>This is not offered here</h1>
      <p>Prompts and a hub are parts of another product.</p>
      <p>
        <a href="/">Go to the experiments</a>
      </p>
    </main>
  );
}
