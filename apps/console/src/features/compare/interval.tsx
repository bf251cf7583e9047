import css from './compare.module.css';

interface IntervalProps {
  readonly low: number;
  readonly high: number;
  readonly value: number;
  /** Value at the ends of the axis, on both sides of 0. */
  readonly span: number;
  readonly clear: boolean;
  readonly tone: string;
  readonly label: string;
}

const WIDTH = 120;
const HEIGHT = 20;

/** A difference as a dot with its interval on an axis with 0 in its middle; hollow when it is not clear. */
export function Interval({ low, high, value, span, clear, tone, label }: IntervalProps) {
  const x = (at: number) => WIDTH / 2 + (at / span) * (WIDTH / 2 - 4);
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
      className={`${css.interval} ${tone}`}
    >
      <line x1={WIDTH / 2} x2={WIDTH / 2} y1={0} y2={HEIGHT} className={css.zero} />
      <line x1={x(low)} x2={x(high)} y1={HEIGHT / 2} y2={HEIGHT / 2} stroke="currentColor" strokeWidth={1.5} />
      <circle
        cx={x(value)}
        cy={HEIGHT / 2}
        r={4}
        fill={clear ? 'currentColor' : 'var(--bg)'}
        stroke="currentColor"
        strokeWidth={1.5}
      />
    </svg>
  );
}
