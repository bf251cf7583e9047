import { type ReactNode, useState } from 'react';
import css from './finder.module.css';
import { middle } from '../format';
import { Button, Text } from '../parts';

/** Something to find by a part of its name. */
export interface Findable {
  readonly id: string;
  readonly title: string;
  /** Heading under which it is offered. */
  readonly group?: string;
}

interface FinderProps<T extends Findable> {
  /** Noun for an item, such as `a column`. */
  readonly what: string;
  readonly items: readonly T[];
  /** Words before the name, for those who hear the page. */
  readonly verb: string;
  readonly chosen?: string;
  readonly onPick: (item: T) => void;
  /** Element beside the name of an item. */
  readonly beside?: (item: T) => ReactNode;
}

/** Items that are offered without a field to search them. */
const MOST_UNSEARCHED = 12;

/** Items in their groups, of which one is picked; many can be searched by name. */
export function Finder<T extends Findable>({ what, items, verb, chosen, onPick, beside }: FinderProps<T>) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = items.filter(({ title }) => title.toLowerCase().includes(wanted));
  const groups = [...new Set(found.map(({ group = '' }) => group))];
  return (
    <>
      {items.length > MOST_UNSEARCHED && (
        <input
          type="search"
          className={css.search}
          aria-label={`Find ${what}`}
          placeholder={`Find ${what}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {groups.map((group) => (
        <section key={group} aria-label={group || 'Others'}>
          {group !== '' && (
            <p className={css.group}>
              <Text>{group}</Text>
            </p>
          )}
          <ul className={css.choices}>
            {found
              .filter((one) => (one.group ?? '') === group)
              .map((one) => (
                <li key={one.id}>
                  <Button
                    title={one.title}
                    aria-label={`${verb} ${one.title}`}
                    aria-pressed={chosen === undefined ? undefined : one.id === chosen}
                    onClick={() => onPick(one)}
                  >
                    <Text>{middle(one.title, 40)}</Text>
                    {beside?.(one)}
                  </Button>
                </li>
              ))}
          </ul>
        </section>
      ))}
      <p role="status" className={css.none}>
        {found.length === 0 && `Nothing has “${text}” in its name.`}
      </p>
    </>
  );
}
