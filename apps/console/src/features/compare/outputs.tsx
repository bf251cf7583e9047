import { Fragment } from 'react';
import { LongText, Text } from '../../ui/parts';
import css from './compare.module.css';
import { lines, members, type Stretch, words } from './difference';
import { leafText, type Turn, turnsOf } from '../../ui/values/readable';

export type Mode = 'words' | 'lines';

interface OutputsProps {
  readonly before: unknown;
  readonly after: unknown;
  /** Titles of the left and of the right side. */
  readonly names: readonly [string, string];
  readonly mode: Mode;
}

/** Two outputs beside each other with their differences marked: conversations by turn, JSON by path, texts inline. */
export function Outputs({ before, after, names, mode }: OutputsProps) {
  const [was, is] = [turnsOf(before), turnsOf(after)];
  const { changed, same } = was && is ? turnChanges(was, is) : members(before, after);
  return (
    <section className={css.changes} aria-label="Differences of the output">
      {changed.length === 0 && <p className={css.same}>= the same output</p>}
      {changed.length > 0 && (
        <div className={css.pair}>
          {names.map((name) => (
            <h3 key={name}>
              <Text title={name}>{name}</Text>
            </h3>
          ))}
          {changed.map(({ path, before: one, after: other }, place) => (
            <Fragment key={place}>
              {path !== '' && (
                <code>
                  <Text>{path}</Text>
                </code>
              )}
              <Pair before={one} after={other} mode={mode} />
            </Fragment>
          ))}
        </div>
      )}
      {changed.length > 0 && same > 0 && (
        <p className={css.faint}>
          {same === 1 ? `1 ${was && is ? 'turn' : 'member'} is` : `${same} ${was && is ? 'turns' : 'members'} are`} the
          same
        </p>
      )}
    </section>
  );
}

/** Turns that differ: those of the same role are held against each other in their order. */
function turnChanges(before: readonly Turn[], after: readonly Turn[]) {
  const changed: { path: string; before: unknown; after: unknown }[] = [];
  let same = 0;
  for (let at = 0, to = 0; at < before.length || to < after.length;) {
    const [one, other] = [before[at], after[to]];
    if (one && other && one.role === other.role) {
      if (one.text === other.text) same++;
      else changed.push({ path: one.role, before: one.text, after: other.text });
      at++;
      to++;
    } else if (other && (!one || after.length - to > before.length - at)) {
      changed.push({ path: other.role, before: undefined, after: other.text });
      to++;
    } else {
      changed.push({ path: one!.role, before: one!.text, after: undefined });
      at++;
    }
  }
  return { changed, same };
}

function Pair({ before, after, mode }: { before: unknown; after: unknown; mode: Mode }) {
  const both = typeof before === 'string' && typeof after === 'string';
  const marked = both ? (mode === 'words' ? words(before, after) : lines(before, after)) : undefined;
  return (
    <>
      <Side of={before} marked={marked} kind="removed" />
      <Side of={after} marked={marked} kind="added" />
    </>
  );
}

interface SideProps {
  readonly of: unknown;
  readonly marked: readonly Stretch[] | undefined;
  readonly kind: 'removed' | 'added';
}

function Side({ of, marked, kind }: SideProps) {
  const Mark = kind === 'removed' ? 'del' : 'ins';
  if (of === undefined) return <p className={css.faint}>none</p>;
  if (!marked) {
    return (
      <p>
        <Mark>
          <LongText>{leafText(of)}</LongText>
        </Mark>
      </p>
    );
  }
  return (
    <p>
      {marked.map((part, place) => {
        if (part.kind !== 'same' && part.kind !== kind) return null;
        const Part = part.kind === 'same' ? 'span' : Mark;
        return (
          <Part key={place}>
            <Text>{part.text}</Text>
          </Part>
        );
      })}
    </p>
  );
}
