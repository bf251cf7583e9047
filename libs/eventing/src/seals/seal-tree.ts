import { hash as hashOf } from 'node:crypto';
import { withoutSealed } from '../core/chain';
import type { Recorded } from '../core/event';
import { storedShape } from '../core/upcasters';

/**
 * A Merkle tree over events of the log, from the one after number `from` on. `peaks` are the roots of its complete
 * subtrees, the largest first, so that it grows without its leaves.
 */
export interface SealTree {
  readonly from: number;
  readonly peaks: readonly string[];
}

/** Returns the leaf of an event: SHA-256 over everything it contains except its position, base64url. */
export function leafOf(event: Recorded): string {
  const { id, stream, version, type, data, metadata, time } = storedShape(event);
  const text = JSON.stringify(['fairlead event', stream, version, id, type, data, metadata, time]);
  return hashOf('sha256', withoutSealed(text), 'base64url');
}

/** Returns the tree with one more leaf; `count` is the number of events in the log before it. */
export function grown({ from, peaks }: SealTree, count: number, leaf: string): SealTree {
  const merged = [...peaks, leaf];
  for (let size = count - from; size % 2 === 1; size = (size - 1) / 2) {
    const [left, right] = merged.splice(-2);
    merged.push(nodeOf(left!, right!));
  }
  return { from, peaks: merged };
}

/** Returns the root of a tree, which a seal signs; undefined for a tree without leaves. */
export function rootOf({ peaks }: SealTree): string | undefined {
  return peaks.length === 0 ? undefined : peaks.reduceRight((right, left) => nodeOf(left, right));
}

/**
 * Returns the path from each wanted leaf to the root: the hashes beside it, from the leaf upwards, with `<` in front of
 * one that belongs to the left and `>` in front of one to the right.
 */
export function pathsOf(leaves: readonly string[], wanted: readonly number[]): Map<number, string[]> {
  const paths = new Map(wanted.map((index) => [index, [] as string[]]));
  const walk = (start: number, end: number): string => {
    if (end - start === 1) return leaves[start]!;
    let half = 1;
    while (half * 2 < end - start) half *= 2;
    const left = walk(start, start + half);
    const right = walk(start + half, end);
    for (const [index, path] of paths) {
      if (index < start || index >= end) continue;
      path.push(index < start + half ? `>${right}` : `<${left}`);
    }
    return nodeOf(left, right);
  };
  if (leaves.length > 0) walk(0, leaves.length);
  return paths;
}

export function nodeOf(left: string, right: string): string {
  return hashOf('sha256', JSON.stringify(['fairlead node', left, right]), 'base64url');
}
