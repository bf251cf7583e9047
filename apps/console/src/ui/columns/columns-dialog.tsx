import { useAddress } from '../address';
import {
  type Arrangement,
  moved,
  NARROWEST,
  pinned,
  printArrangement,
  setWidth,
  toggled,
  useWidths,
  WIDTH_STEP,
} from './columns';
import css from './columns.module.css';
import { Dialog } from '../dialog';
import { Finder, type Findable } from './finder';
import { middle } from '../format';
import { Button, Text } from '../parts';

interface ColumnsProps {
  readonly list: string;
  readonly columns: readonly Findable[];
  readonly arrangement: Arrangement;
  readonly onClose: () => void;
}

const USUAL_WIDTH = 120;

/** Chooses, orders, pins and resizes the columns of a list. The choice stands in the address, widths in the browser. */
export function ColumnsDialog({ list, columns, arrangement, onClose }: ColumnsProps) {
  const { search, change } = useAddress();
  const widths = useWidths(list);
  const titles = new Map(columns.map(({ id, title }) => [id, title]));
  const arrange = (next: Arrangement) => change({ columns: printArrangement(next) }, 'replace');
  const resize = (id: string, by: number) => setWidth(list, id, (widths[id] ?? USUAL_WIDTH) + by);
  const shown = arrangement.shown.filter((id) => titles.has(id));
  const others = columns.filter(({ id }) => !shown.includes(id));
  return (
    <Dialog title="Columns" onClose={onClose}>
      <h3 className={css.part}>Shown, in this order</h3>
      <ol className={css.list} aria-label="Shown columns">
        {shown.map((id, at) => {
          const title = titles.get(id)!;
          const isPinned = at < arrangement.pinned;
          const step = (by: 1 | -1, sign: string, way: string) => (
            <Button
              kind="quiet"
              aria-label={`Move ${title} ${way}`}
              aria-disabled={moved(arrangement, id, by).shown === arrangement.shown}
              onClick={() => arrange(moved(arrangement, id, by))}
            >
              {sign}
            </Button>
          );
          return (
            <li key={id}>
              <Text title={title}>{middle(title, 40)}</Text>
              <span className={css.buttons}>
                <Button
                  kind="quiet"
                  aria-pressed={isPinned}
                  aria-label={`Pin ${title}`}
                  onClick={() => arrange(pinned(arrangement, id))}
                >
                  Pin
                </Button>
                {step(-1, '↑', 'up')}
                {step(1, '↓', 'down')}
                <Button
                  kind="quiet"
                  aria-label={`Make ${title} narrower`}
                  aria-disabled={widths[id] === NARROWEST}
                  onClick={() => resize(id, -WIDTH_STEP)}
                >
                  −
                </Button>
                <Button kind="quiet" aria-label={`Make ${title} wider`} onClick={() => resize(id, WIDTH_STEP)}>
                  +
                </Button>
                <Button kind="quiet" aria-label={`Hide ${title}`} onClick={() => arrange(toggled(arrangement, id))}>
                  Hide
                </Button>
              </span>
            </li>
          );
        })}
      </ol>
      {others.length > 0 && <h3 className={css.part}>Others</h3>}
      {others.length > 0 && (
        <Finder what="a column" verb="Show" items={others} onPick={({ id }) => arrange(toggled(arrangement, id))} />
      )}
      <p className={css.reset}>
        <Button
          disabled={search.columns === undefined && Object.keys(widths).length === 0}
          onClick={() => {
            change({ columns: undefined }, 'replace');
            for (const id of Object.keys(widths)) setWidth(list, id, undefined);
          }}
        >
          As they usually are
        </Button>
      </p>
    </Dialog>
  );
}
