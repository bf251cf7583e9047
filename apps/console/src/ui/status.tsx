import { Text } from './parts';
import css from './status.module.css';

export type Tone = 'ok' | 'busy' | 'bad' | 'idle';

interface StatusProps {
  readonly tone: Tone;
  readonly children: string;
  readonly title?: string;
  /** A sentence, which may hold what a program wrote and takes several lines. */
  readonly wraps?: boolean;
}

/** A state as a sign and a word or a sentence, so that its colour never stands alone. */
export function Status({ tone, children, title, wraps }: StatusProps) {
  return (
    <span className={`${wraps ? css.sentence : css.status} ${css[tone]}`} title={title}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        {SIGNS[tone]}
      </svg>
      {wraps ? <Text>{children}</Text> : children}
    </span>
  );
}

const SIGNS = {
  ok: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  busy: (
    <>
      <circle cx="5" cy="5" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M5 1a4 4 0 0 1 0 8z" fill="currentColor" />
    </>
  ),
  bad: <path d="M1.5 1.5l7 7m0-7l-7 7" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />,
  idle: <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2 1.5" />,
};
