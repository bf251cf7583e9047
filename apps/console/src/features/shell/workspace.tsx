import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { setWorkspace } from '../../api/client';
import { useSession, useSigning } from '../../api/session';
import { mayDiscard } from '../../ui/dirty';
import { ErrorPage } from '../../ui/error-page';
import { plain } from '../../ui/format';
import { Button, Page, Skeleton, Text, Unseen, useTitle } from '../../ui/parts';
import { Keyboard } from './keyboard';
import { Live } from './live';
import { Mark } from './login';
import css from './shell.module.css';
import { ThemeChoice } from './theme-choice';

const PLACES = [
  ['/o/$w/experiments', 'Experiments'],
  ['/o/$w/datasets', 'Datasets'],
  ['/o/$w/projects', 'Traces'],
  ['/o/$w/host/deployments', 'Deployments'],
  ['/o/$w/integrations', 'Connections'],
  ['/o/$w/audit', 'Audit'],
  ['/o/$w/keys', 'Keys'],
  ['/o/$w/health', 'Health'],
] as const;

/** The frame of every page of a workspace: where one can go, and who one is. */
export function Workspace() {
  const { w } = useParams({ from: '/o/$w' });
  setWorkspace(w);
  const query = useSession();
  const session = query.data;
  const navigate = useNavigate();
  const { signOut } = useSigning();
  // On a phone, the places to go to are behind a button; whoever goes to one sees it.
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setOpen(false), [pathname]);
  const leave = async () => {
    if (await mayDiscard()) await signOut();
  };
  const current = w === '-' ? session?.workspace_id : w;
  const named = session?.workspaces.find(({ id }) => id === current);
  return (
    <div className={css.frame}>
      <a href="#content" className={css.skip}>
        Skip to the content
      </a>
      <header className={css.bar} data-open={isOpen}>
        <Link to="/o/$w/experiments" params={{ w }} className={css.home} aria-label="Fairlead, experiments">
          <Mark />
          <span>Fairlead</span>
        </Link>
        <nav id="places" className={css.nav} aria-label="Pages">
          {PLACES.map(([to, name]) => (
            <Link key={to} to={to} params={{ w }}>
              {name}
            </Link>
          ))}
          <a href="/docs">API</a>
        </nav>
        <span className={css.keyboard}>
          <Keyboard w={w} />
          <Button className={css.menu} aria-expanded={isOpen} aria-controls="places" onClick={() => setOpen(!isOpen)}>
            Menu
          </Button>
        </span>
        <div className={css.who}>
          {session && session.workspaces.length > 1 ? (
            <select
              aria-label="Workspace"
              value={current}
              onChange={(event) => void navigate({ to: '/o/$w/experiments', params: { w: event.target.value } })}
            >
              {!named && <option value={current}>No such workspace</option>}
              {session.workspaces.map(({ id, display_name }) => (
                <option key={id} value={id}>
                  {plain(display_name)}
                </option>
              ))}
            </select>
          ) : (
            <span className={css.workspace}>
              <Text>{named?.display_name ?? (session ? 'Workspace' : '')}</Text>
            </span>
          )}
          <ThemeChoice />
          <Button
            kind="quiet"
            disabled={!session}
            onClick={() => void leave()}
            title={session ? `${session.key.description} (${session.key.short_key})` : undefined}
          >
            Sign out
          </Button>
        </div>
      </header>
      <div className={css.content}>
        {named ? (
          <>
            <Live workspace={named.id} />
            <Outlet key={w} />
          </>
        ) : session ? (
          <NoWorkspace />
        ) : (
          <NotYet error={query.error} retry={() => void query.refetch()} />
        )}
      </div>
    </div>
  );
}

function NoWorkspace() {
  useTitle('No such workspace');
  return (
    <Page title="There is no such workspace">
      <p>It was removed, or this key does not open it.</p>
      <p>
        <Link to="/o/$w/experiments" params={{ w: '-' }}>
          Go to the workspace of this key
        </Link>
      </p>
    </Page>
  );
}

/** The content before it is known who is signed in. */
function NotYet({ error, retry }: { error: Error | null; retry: () => void }) {
  if (error) return <ErrorPage error={error} thing="page" retry={retry} />;
  return (
    <Page title={<Unseen>Loading</Unseen>}>
      <Skeleton />
    </Page>
  );
}
