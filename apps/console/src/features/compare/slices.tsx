import { sliceChange, sliceMeans, sliceName } from '../../../../../libs/evaluation/src/report/slice-text';
import type { Comparison, Schemas } from '../../api/client';
import { middle, probability, whole } from '../../ui/format';
import { Section } from '../../ui/list';
import { Button, Sign, Text } from '../../ui/parts';
import css from './compare.module.css';

type Slices = Schemas['ComparisonSlices'];
type Slice = Slices['slices'][number];

interface WorseProps extends ChosenProps {
  readonly slices: Slices | undefined;
  /** Slices by the score in focus alone, which are corrected for fewer tests: one that lost there comes first. */
  readonly focused: Slices | undefined;
}

interface ChosenProps {
  readonly comparison: Comparison;
  /** The slice whose rows alone are shown. */
  readonly chosen: string | undefined;
  readonly onChoose: (slice: string | undefined) => void;
}

/** Slices by the score in focus and by all are two families of tests: half the level of each keeps 1 in 20 for both. */
const MOST_P = 0.025;

/** The slice that lost most, which filters the rows. */
export function Worse({ slices, focused, comparison, chosen, onChoose }: WorseProps) {
  const [inFocus, inAll] = [focused, slices].map((of) =>
    of?.slices.find(({ verdict, adjusted_p }) => verdict === 'worse' && (adjusted_p ?? 1) <= MOST_P),
  );
  const first = inFocus ?? inAll;
  // The place is kept while slices are compared, so that the rows do not move.
  if (!first) return <span className={css.worst} />;
  const isOne = comparison.experiments.length === 2;
  const text = `${sliceName(first)}, ${sliceChange(first)}${isOne ? '' : `, ${experimentOf(comparison, first)}`}`;
  return (
    <span className={css.worst}>
      <Button
        aria-pressed={first.slice === chosen}
        title={`Only the ${whole(first.rows)} rows of ${text}`}
        onClick={() => onChoose(first.slice === chosen ? undefined : first.slice)}
      >
        <span className={css.down}>
          <span aria-hidden="true">▼</span> Worse in
        </span>{' '}
        <Text>{`${first.value}: ${sliceChange(first)}`}</Text>
      </Button>
    </span>
  );
}

interface PanelProps extends ChosenProps {
  readonly slices: Slices | undefined;
  /** True: latency, tokens and cost are tested as well. */
  readonly measured: boolean;
  readonly onMeasured: (measured: boolean) => void;
}

/** Every slice that was compared: clear losses first, then clear gains, then the rest. */
export function SlicesPanel({ slices, comparison, chosen, onChoose, measured, onMeasured }: PanelProps) {
  if (!slices) return <Section title="Slices">Comparing slices …</Section>;
  const { groups, groups_left_out: leftOut, tests, total, slices: shown } = slices;
  return (
    <Section title="Slices">
      <p className={css.faint}>
        {groups === 0
          ? 'No member of the metadata or the inputs, and no split, is shared by six rows or more.'
          : `${whole(groups)} slices, ${tests === 1 ? '1 test' : `${whole(tests)} tests`}. Verdicts are corrected for their number.`}
        {leftOut > 0 && ` ${whole(leftOut)} more slices were not compared.`}
        {total > shown.length && ` The first ${whole(shown.length)} of ${whole(total)} results are shown.`}
      </p>
      <div className={css.keys}>
        <Button aria-pressed={measured} onClick={() => onMeasured(!measured)}>
          Also by latency, tokens and cost
        </Button>
      </div>
      <ul className={css.findings}>
        {shown.map((one) => (
          <li key={nameOf(one)}>
            <Button
              aria-pressed={one.slice === chosen}
              onClick={() => onChoose(one.slice === chosen ? undefined : one.slice)}
            >
              <Text>{sliceName(one)}</Text>
            </Button>{' '}
            <Verdict of={one} /> {sliceChange(one)}
            <div className={css.faint}>
              <Text>{middle(experimentOf(comparison, one), 40)}</Text> · {sliceMeans(one)} · {whole(one.rows)} rows · p{' '}
              {probability(one.adjusted_p)}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const MARKS = { better: '▲', worse: '▼', 'not clear': '≈' } as const;
const TONES = { better: css.up, worse: css.down, 'not clear': css.faint } as const;

function Verdict({ of: { verdict } }: { of: Slice }) {
  return (
    <span className={TONES[verdict]}>
      <Sign sign={MARKS[verdict]}>{verdict}</Sign>
    </span>
  );
}

function experimentOf({ experiments }: Comparison, { experiment }: Slice): string {
  return experiments.find(({ id }) => id === experiment)?.name ?? experiment;
}

function nameOf({ slice, experiment, measure, key }: Slice): string {
  return JSON.stringify([slice, experiment, measure, key]);
}
