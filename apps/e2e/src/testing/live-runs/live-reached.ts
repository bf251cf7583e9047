import type { Sent } from './vary';

const FORMS = ['run', 'patch', 'batch', 'multipart'];
/** Everything that twelve trials have to reach. */
const WANTED: readonly string[] = [
  ...FORMS.flatMap((form) => [`${form} stored`, `${form} refused`]),
  ...['batch', 'multipart'].map((form) => `${form} stored and refused`),
  ...['a step again', 'requests at once', 'killed', 'a request that was cut'],
];
/** Everything besides that forty trials have to reach. */
const WANTED_OF_MANY = ['time', 'inputs', 'tags', 'parent', 'broken'].map((fault) => `fault ${fault}`);

/** Counts what the trials have reached, so that a net with a hole is seen. */
export class LiveReached {
  private readonly counts = new Map<string, number>();

  note(name: string, times = 1): void {
    if (times > 0) this.counts.set(name, (this.counts.get(name) ?? 0) + times);
  }

  /** Notes a request, and the numbers of its changes that were stored and refused. */
  noteSent({ form, changes }: Sent, stored: number, refused: number): void {
    this.note(`${form} stored`, stored);
    this.note(`${form} refused`, refused);
    if (stored > 0 && refused > 0) this.note(`${form} stored and refused`);
    for (const { fault } of changes) if (fault) this.note(`fault ${fault}`);
  }

  /** Returns what so many trials have to reach and have not. */
  missing(trials: number): string[] {
    const wanted = [...(trials >= 12 ? WANTED : []), ...(trials >= 40 ? WANTED_OF_MANY : [])];
    return wanted.filter((name) => !this.counts.has(name));
  }

  /** One line for each thing reached, the rarest first. */
  toString(): string {
    const sorted = [...this.counts].sort(([, one], [, other]) => one - other);
    return sorted.map(([name, count]) => `${String(count).padStart(7)}  ${name}`).join('\n');
  }
}
