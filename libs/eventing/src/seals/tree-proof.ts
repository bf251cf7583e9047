import { nodeOf } from './seal-tree';

/**
 * Shows that own leaves are in a seal's tree without showing the leaves of others: `at` has the places of the own leaves,
 * from 0; `others` the roots of the largest subtrees that contain no own leaf, from left to right.
 */
export interface TreeProof {
  readonly at: readonly number[];
  readonly others: readonly string[];
}

/** A complete subtree: its root when it contains no own leaf, and otherwise those of its subtrees without one. */
interface Subtree {
  readonly size: number;
  readonly isOwn: boolean;
  readonly others: readonly string[];
}

/** Collects the proof of a tree leaf by leaf. It stores no leaves: a thousand own ones of a million are ten thousand hashes. */
export class TreeProofBuilder {
  /** Number of leaves so far. */
  count = 0;
  private readonly at: number[] = [];
  private readonly peaks: Subtree[] = [];

  /** Number of own leaves so far. */
  get own(): number {
    return this.at.length;
  }

  addOwn(): void {
    this.at.push(this.count);
    this.add({ size: 1, isOwn: true, others: [] });
  }

  addOther(leaf: string): void {
    this.add({ size: 1, isOwn: false, others: [leaf] });
  }

  proof(): TreeProof {
    const whole = this.peaks.reduceRight<Subtree | undefined>(
      (right, left) => (right ? joined(left, right) : left),
      undefined,
    );
    return { at: this.at, others: whole?.others ?? [] };
  }

  private add(leaf: Subtree): void {
    let last = leaf;
    while (this.peaks.at(-1)?.size === last.size) last = joined(this.peaks.pop()!, last);
    this.peaks.push(last);
    this.count += 1;
  }
}

function joined(left: Subtree, right: Subtree): Subtree {
  const size = left.size + right.size;
  if (left.isOwn || right.isOwn) return { size, isOwn: true, others: [...left.others, ...right.others] };
  return { size, isOwn: false, others: [nodeOf(left.others[0]!, right.others[0]!)] };
}
