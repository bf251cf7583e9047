import { hash as hashOf } from 'node:crypto';
import { grown, pathsOf, rootOf, type SealTree } from './seal-tree';

const leafAt = (index: number) => `leaf ${index}`;
const nodeOf = (left: string, right: string) =>
  hashOf('sha256', JSON.stringify(['fairlead node', left, right]), 'base64url');

it('leads each leaf to the root that a growing tree has', () => {
  const from = 7;
  let tree: SealTree = { from, peaks: [] };
  expect(rootOf(tree)).toBeUndefined();
  for (let size = 1; size <= 40; size++) {
    tree = grown(tree, from + size - 1, leafAt(size - 1));
    const leaves = Array.from({ length: size }, (_, index) => leafAt(index));
    const paths = pathsOf(leaves, [...leaves.keys()]);
    for (const [index, path] of paths) {
      const reached = path.reduce((hash, step) => {
        const beside = step.slice(1);
        return step.startsWith('<') ? nodeOf(beside, hash) : nodeOf(hash, beside);
      }, leafAt(index));
      expect(reached).toBe(rootOf(tree));
    }
    expect(tree.peaks.length).toBeLessThanOrEqual(6);
  }
});
