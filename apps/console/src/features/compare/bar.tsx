import { whole } from '../../ui/format';
import css from './compare.module.css';

const KINDS = ['better', 'same', 'worse', 'missing', 'extra', 'errored', 'unscored'] as const;
type Kind = (typeof KINDS)[number];
/** Parts below this share would be too narrow to be seen or hit. */
const LEAST = 0.012;

interface BarProps {
  readonly counts: Readonly<Record<Kind | 'rows', number>>;
  /** The filter in use. */
  readonly chosen: string | undefined;
  readonly filterOf: (kind: Kind) => string;
  readonly onChoose: (filter: string | undefined) => void;
}

/** Numbers of rows by kind, as one bar; each part filters the rows. */
export function Bar({ counts, chosen, filterOf, onChoose }: BarProps) {
  const parts = KINDS.filter((kind) => counts[kind] > 0);
  return (
    <div className={css.bar}>
      <div className={css.strip} role="presentation">
        {parts.map((kind) => (
          <span key={kind} className={css[kind]} style={{ flexGrow: Math.max(LEAST, counts[kind] / counts.rows) }} />
        ))}
      </div>
      <div className={css.parts}>
        {parts.map((kind) => {
          const filter = filterOf(kind);
          const pressed = chosen === filter;
          return (
            <button
              key={kind}
              type="button"
              aria-pressed={pressed}
              title={pressed ? 'Show all rows' : `Show only these ${whole(counts[kind])} rows`}
              onClick={() => onChoose(pressed ? undefined : filter)}
            >
              <span className={`${css.swatch} ${css[kind]}`} aria-hidden="true" />
              {whole(counts[kind])} {kind}
            </button>
          );
        })}
        <span className={css.faint}>= {whole(counts.rows)}</span>
      </div>
    </div>
  );
}
