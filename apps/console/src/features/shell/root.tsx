import { Outlet, useLocation } from '@tanstack/react-router';
import { useSession } from '../../api/session';
import { Problem } from '../../ui/parts';
import { Login } from './login';
import css from './shell.module.css';

const NOT_OFFERED = /^\/(?:api-host\/)?(?:public|hub|prompts|context)(?:\/|$)/;

/** Whatever is asked for, once somebody is signed in; the address stays meanwhile. */
export function Root() {
  const { pathname } = useLocation();
  const session = useSession();
  if (NOT_OFFERED.test(pathname)) return <NotOffered shared={pathname.includes('/public/')} />;
  if (session.error) return <Problem error={session.error} retry={() => void session.refetch()} />;
  if (session.data === undefined) return null;
  if (session.data === null || pathname === '/login') return <Login />;
  return <Outlet />;
}

function NotOffered({ shared }: { shared: boolean }) {
  return (
    <main className={css.notice}>
      <h1>{shared ? 'Shared, for programs' : 'This is not offered here'}</h1>
      <p>
        {shared
          ? 'The console does not show shared datasets and runs yet: SDKs read them with the token of this address.'
          : 'Prompts and a hub are parts of another product.'}
      </p>
      <p>
        <a href="/">Go to the experiments</a>
      </p>
    </main>
  );
}
