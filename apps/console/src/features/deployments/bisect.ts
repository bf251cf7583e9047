import { isUnderWay } from './words';

/** The members of a revision that are read here. */
interface Numbered {
  readonly id: string;
  readonly number?: number;
  readonly status: string;
}

/** Result of the search for the revision with which a deployment became bad. */
export interface Bisection<T extends Numbered> {
  /** The one to try next; undefined when there is none left. */
  readonly next?: T;
  /** Revisions between the good and the bad one that can still be tried. */
  readonly open: readonly T[];
  /** Most tries that are left. */
  readonly steps: number;
  /** Revisions of which one is the first bad one, the oldest first: the bad one alone once it is found. */
  readonly suspects: readonly T[];
}

/** Revisions that were never deployed cannot be tried. */
const NEVER_RAN = ['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'];

/**
 * Halves the revisions between a good and a bad one. Undefined when one of them is not among the revisions, or the good
 * one is not older. `skipped` are numbers of revisions that could not be judged.
 */
export function bisect<T extends Numbered>(
  revisions: readonly T[],
  good: number | undefined,
  bad: number | undefined,
  skipped: readonly number[],
): Bisection<T> | undefined {
  const last = revisions.find(({ number }) => number !== undefined && number === bad);
  const first = revisions.find(({ number }) => number !== undefined && number === good);
  if (!last || !first || first.number! >= last.number!) return undefined;
  const between = revisions
    .filter(({ number }) => number !== undefined && number > first.number! && number < last.number!)
    .sort((a, b) => a.number! - b.number!);
  const isSkipped = ({ number }: T) => skipped.includes(number!);
  const open = between.filter((one) => !isSkipped(one) && !NEVER_RAN.includes(one.status));
  return {
    next: open[Math.floor(open.length / 2)],
    open,
    steps: Math.ceil(Math.log2(open.length + 1)),
    suspects: [...between.filter((one) => open.includes(one) || isSkipped(one)), last],
  };
}

/** The number in `v12`; undefined for anything else. */
export function numberIn(text: string | undefined): number | undefined {
  const [, digits] = /^v?(\d{1,9})$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The numbers in `v12,v14`. */
export function numbersIn(text: string | undefined): number[] {
  return (text ?? '').split(',').flatMap((part) => numberIn(part) ?? []);
}

/** True when a revision runs, by itself or deployed again as another one. */
export function runsAs(
  live: (Numbered & { readonly redeployed_from?: string | null }) | undefined,
  revision: { readonly id: string },
): boolean {
  if (!live || isUnderWay(live.status)) return false;
  return live.id === revision.id || live.redeployed_from === revision.id;
}
