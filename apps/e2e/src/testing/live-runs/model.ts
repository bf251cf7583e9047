import { type Change, FAULTS, type Sent } from './vary';

const [UPLOADED, NOWHERE] = [1, 4];
/** Session of runs that name none; the others are named by their places. */
export const DEFAULT = 'default';

/** A run as it was sent: the last value of each member, as JSON. */
export interface Told {
  readonly place: number | typeof DEFAULT;
  readonly members: Readonly<Record<string, string>>;
  /** Contents by name. */
  readonly attachments: Readonly<Record<string, string>>;
}

/** A change with its attachments, and its place in the request. */
interface Item extends Pick<Change, 'run' | 'place' | 'members' | 'fault'> {
  readonly at: string;
  readonly attachments: Readonly<Record<string, string>>;
}

/** Runs of one trial, as the requests that were answered say that they are. */
export class LiveModel {
  constructor(readonly runs = new Map<number, Told>()) {}

  /** Stores what can be stored; returns the places of what was refused, and the number of changes that were stored. */
  receive(sent: Sent): { readonly refused: readonly string[]; readonly stored: number } {
    const refused: string[] = [];
    const placed = new Map([...this.runs].map(([run, { place }]) => [run, place]));
    const items = itemsOf(sent);
    const gone = new Set(items.filter(({ fault }) => fault).map(({ run }) => run));
    for (const item of items) {
      const { run, at, place: named, fault } = item;
      const place = placed.get(run) ?? named?.session ?? DEFAULT;
      const isRefused = fault || place === NOWHERE || isLost(item, placed, gone) || this.isElsewhere(sent, item);
      if (isRefused) gone.add(run);
      else placed.set(run, place);
      if (isRefused || place === UPLOADED) refused.push(at);
      else this.runs.set(run, merged(this.runs.get(run), item, place));
    }
    return { refused, stored: items.length - refused.length };
  }

  /** True when a request that is received twice does what it does once. */
  isRepeatable(sent: readonly Sent[]): boolean {
    const other = new LiveModel(new Map(this.runs));
    const [once, twice] = [0, 1].map(() => {
      const refused = sent.map((one) => other.receive(one));
      return JSON.stringify([refused, [...other.runs].sort(([a], [b]) => a - b)]);
    });
    return once === twice;
  }

  /** A `PATCH` finds its run, and may only name the session where that is. */
  private isElsewhere({ form }: Sent, { run, place }: Item): boolean {
    const known = this.runs.get(run);
    return form === 'patch' && (!known || (place !== undefined && place.session !== known.place));
  }
}

/** A change without a place of a run that is only in the same request, where it was refused. */
function isLost(item: Item, placed: ReadonlyMap<number, unknown>, gone: ReadonlySet<number>): boolean {
  const { run, place, members } = item;
  return gone.has(run) && !placed.has(run) && place === undefined && (members.name ?? 'null') === 'null';
}

function merged(known: Told | undefined, { members, attachments }: Item, place: Told['place']): Told {
  const said = Object.fromEntries(Object.entries(members).filter(([, json]) => json !== 'null'));
  // A new run without a start has begun when it ended.
  const start: Record<string, string> = !known && said.end_time ? { start_time: said.end_time } : {};
  return {
    place: known?.place ?? place,
    members: { ...start, ...known?.members, ...said },
    attachments: { ...known?.attachments, ...attachments },
  };
}

/** The changes of a request. What is attached to a run goes with its first change that can be read, else it is one. */
function itemsOf({ form, changes, attachments }: Sent): Item[] {
  const attached = (run: number) =>
    Object.fromEntries(attachments.flatMap((one) => (one.run === run ? [[one.name, one.text]] : [])));
  const items = changes.map((change, nth): Item => {
    const { method, run } = change;
    const place = nth - changes.findIndex((one) => one.method === method);
    const isFirst = changes.find((one) => one.run === run && !one.fault) === change;
    const at = form === 'batch' ? `${method}.${place}` : `${method}.$${run}`;
    return { ...change, at, attachments: isFirst ? attached(run) : {} };
  });
  const others = new Set(attachments.map(({ run }) => run).filter((run) => changes.every((one) => one.run !== run)));
  return [...items, ...[...others].map((run) => ({ run, members: {}, at: 'attachment', attachments: attached(run) }))];
}

/** The members of a change as they are sent, with the fault if it has one. */
export function sentMembers({ members, fault }: Change): Readonly<Record<string, string>> {
  return fault ? { ...members, ...Object.fromEntries([FAULTS[fault]!]) } : members;
}
