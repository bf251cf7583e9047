import { whole } from '../../ui/format';
import css from './compare.module.css';

const KINDS = ['better', 'same', 'worse', 'changed', 'missing', 'extra', 'errored', 'unscored'] as const;
type Kind = (typeof KINDS)[number];
/** Parts below this share would be too narrow to be seen or hit. */
const LEAST = 0.012;

interface BarProps {
  readonly counts: { readonly rows: number } & Readonly<Partial<Record<Kind, number>>>;
  /** The filter in use. */
  readonly chosen: string | undefined;
  readonly filterOf: (kind: Kind) => string;
  readonly onChoose: (filter: string | undefined) => void;
}

/** Numbers of rows by kind, as one bar; each part filters the rows. */
export function Bar({ counts, chosen, filterOf, onChoose }: BarProps) {
  const parts = KINDS.flatMap((kind) => (counts[kind] ? [[kind, counts[kind]] as const] : []));
  return (
    <div className={css.bar}>
      <div className={css.strip} role="presentation">
        {parts.map(([kind, count]) => (
          <span key={kind} className={css[kind]} style={{ flexGrow: Math.max(LEAST, count / counts.rows) }} />
        ))}
      </div>
      <div className={css.parts}>
        {parts.map(([kind, count]) => {
          const filter = filterOf(kind);
          const pressed = chosen === filter;
          return (
            <button
              key={kind}
              type="button"
              aria-pressed={pressed}
              title={pressed ? 'Show all rows' : `Show only these ${whole(count)} rows`}
              onClick={() => onChoose(pressed ? undefined : filter)}
            >
              <span className={`${css.swatch} ${css[kind]}`} aria-hidden="true" />
              {whole(count)} {kind}
            </button>
          );
        })}
      </div>
    </div>
  );
}
