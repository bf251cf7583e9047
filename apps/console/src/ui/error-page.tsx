import type { ReactNode } from 'react';
import { ApiError } from '../api/errors';
import { Page, Problem, useTitle } from './parts';
import css from './parts.module.css';

interface ErrorPageProps {
  readonly error: Error;
  /** Noun for what the page would show, such as `dataset`. */
  readonly thing: string;
  /** Words for reading it, such as `read the audit log`. */
  readonly reading?: string;
  readonly retry?: () => void;
  /** Ways on. */
  readonly children?: ReactNode;
}

/** The page in the place of one that cannot be shown: what happened, the id of the request, and ways on. */
export function ErrorPage({ error, thing, reading = `see this ${thing}`, retry, children }: ErrorPageProps) {
  const { status, more } = error instanceof ApiError ? error : { status: undefined, more: {} };
  const title = more.isUnknown
    ? `There is no such ${thing}`
    : status === 403
      ? 'Not with this key'
      : `The ${thing} cannot be shown`;
  useTitle(title);
  return (
    <Page title={title}>
      <div className={css.fault}>
        {more.isUnknown && <p>It was deleted, belongs to another workspace, or the address is not complete.</p>}
        <Problem error={error} retry={retry} reading={reading} />
        {children && <p>{children}</p>}
      </div>
    </Page>
  );
}
