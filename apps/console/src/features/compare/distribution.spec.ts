import { curve, gridLayers, LEVELS, shares, stepLine } from './distribution';

it('draws a step for each bin, and comes back to the ground', () => {
  expect(stepLine([0.5, 1], 100, 20)).toBe('M0,20V10H50V0H100V20');
});

it('draws nothing above the ground where there is nothing', () => {
  expect(stepLine(shares([0, 0], 0), 10, 10)).toBe('M0,10V10H5V10H10V10');
});

it('puts the cells of a grid that look alike into one path, by their side of the diagonal', () => {
  const layers = gridLayers(
    [
      [100, 1],
      [0, 4],
    ],
    20,
  );
  expect(layers.map(({ side, level }) => [side, level])).toEqual([
    [0, LEVELS],
    [1, 1],
    [0, 1],
  ]);
  // One row got better: from the first bin, which is left, into the second one, which is above.
  expect(layers[1]!.path).toBe('M0,0h10v10h-10z');
  expect(gridLayers([[0]], 20)).toEqual([]);
});

it('leaves out what is not known of a curve, and cuts what is beyond its field', () => {
  expect(curve([null, 1, 4], [0, 0.5, 1], 2, [100, 50])).toBe('50,25 100,0');
});
