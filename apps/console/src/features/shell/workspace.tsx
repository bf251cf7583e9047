import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { setWorkspace } from '../../api/client';
import { useSession, useSigning } from '../../api/session';
import { plain } from '../../ui/format';
import { Button, Text } from '../../ui/parts';
import { Keyboard } from './keyboard';
import { Live } from './live';
import { Mark } from './login';
import css from './shell.module.css';
import { ThemeChoice } from './theme-choice';

/** The frame of every page of a workspace: where one can go, and who one is. */
export function Workspace() {
  const { w } = useParams({ from: '/o/$w' });
  setWorkspace(w);
  const session = useSession().data!;
  const navigate = useNavigate();
  const { signOut } = useSigning();
  const current = w === '-' ? session.workspace_id : w;
  const named = session.workspaces.find(({ id }) => id === current);
  return (
    <div className={css.frame}>
      <a href="#content" className={css.skip}>
        Skip to the content
      </a>
      <header className={css.bar}>
        <Link to="/o/$w/experiments" params={{ w }} className={css.home} aria-label="Fairlead, experiments">
          <Mark />
          <span>Fairlead</span>
        </Link>
        <nav className={css.nav} aria-label="Pages">
          <Link to="/o/$w/experiments" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Experiments
          </Link>
          <Link to="/o/$w/datasets" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Datasets
          </Link>
          <Link to="/o/$w/host/deployments" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Deployments
          </Link>
          <Link to="/o/$w/integrations" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Connections
          </Link>
          <Link to="/o/$w/audit" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Audit
          </Link>
          <Link to="/o/$w/keys" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Keys
          </Link>
          <Link to="/o/$w/health" params={{ w }} activeProps={{ 'aria-current': 'page' }}>
            Health
          </Link>
          <a href="/docs">API</a>
        </nav>
        <div className={css.who}>
          <Keyboard w={w} />
          {session.workspaces.length > 1 ? (
            <select
              aria-label="Workspace"
              value={current}
              onChange={(event) => void navigate({ to: '/o/$w/experiments', params: { w: event.target.value } })}
            >
              {session.workspaces.map(({ id, display_name }) => (
                <option key={id} value={id}>
                  {plain(display_name)}
                </option>
              ))}
            </select>
          ) : (
            <span className={css.workspace}>
              <Text>{named?.display_name ?? 'Workspace'}</Text>
            </span>
          )}
          <ThemeChoice />
          <Button
            kind="quiet"
            onClick={() => void signOut()}
            title={`${session.key.description} (${session.key.short_key})`}
          >
            Sign out
          </Button>
        </div>
      </header>
      <div className={css.content}>
        <Live workspace={current} />
        <Outlet key={w} />
      </div>
    </div>
  );
}
