import css from './status.module.css';

export type Tone = 'ok' | 'busy' | 'bad' | 'idle';

/** A state as a sign and a word, so that its colour never stands alone. */
export function Status({ tone, children, title }: { tone: Tone; children: string; title?: string }) {
  return (
    <span className={`${css.status} ${css[tone]}`} title={title}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        {SIGNS[tone]}
      </svg>
      {children}
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
