import { useMutation } from '@tanstack/react-query';
import { post } from '../../api/client';
import { Action } from '../../ui/action';
import css from './deployments.module.css';
import type { Deployment } from './words';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** True when this browser, on the machine of the server, can be shown the pages of a deployment. */
export function hasPages({ executor, source_config, status }: Deployment): boolean {
  const isHere = LOOPBACK.test(window.location.hostname);
  return executor === 'local' && Boolean(source_config.custom_url) && isHere && status !== 'AWAITING_DELETE';
}

/** Opens the pages of deployments; `failed` is the one whose pages were not opened last, and why. */
export function useOpening() {
  const { mutate, error, variables } = useMutation({ mutationFn: open });
  return {
    failed: error && variables ? { id: variables.id, error } : undefined,
    /** Must be called by what a user does, or the browser opens no tab. */
    open({ id }: Deployment) {
      const tab = window.open('', '_blank');
      // The program's page does not get hold of this one.
      if (tab) tab.opener = null;
      mutate({ id, tab });
    },
  };
}

async function open({ id, tab }: { id: string; tab: Window | null }): Promise<void> {
  if (!tab) throw new Error('The browser has not opened a tab: allow pop-ups for this page, then press Open again.');
  try {
    const { url } = (await post(`/v2/deployments/${id}/browser-links`)) as { url: string };
    tab.location.replace(url);
  } catch (error) {
    tab.close();
    throw error instanceof TypeError ? new Error('The service cannot be reached.') : error;
  }
}

interface OpenProps {
  readonly deployment: Deployment;
  readonly opening: ReturnType<typeof useOpening>;
  readonly kind?: 'quiet';
}

/** The button that shows the pages of a deployment in a new tab. */
export function Open({ deployment, opening, kind }: OpenProps) {
  const { name, stopped } = deployment;
  return (
    <Action
      scope="invoke"
      kind={kind}
      disabled={stopped}
      title={stopped ? 'It is stopped: start it first.' : 'In a new tab'}
      aria-label={`Open ${name}`}
      onClick={() => opening.open(deployment)}
    >
      Open
    </Action>
  );
}

/** Why the pages of a deployment were not opened. */
export function NotOpened({ id, opening: { failed } }: { id: string; opening: ReturnType<typeof useOpening> }) {
  if (failed?.id !== id) return null;
  return (
    <p role="alert" className={css.bad}>
      {failed.error.message}
    </p>
  );
}
