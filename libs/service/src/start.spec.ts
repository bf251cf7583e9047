import { undoAll } from './start';

it('undoes every step, the last one first, also after one that fails, and tells the first error', async () => {
  const undone: string[] = [];
  const step = (name: string, error?: Error) => async () => {
    undone.push(name);
    if (error) throw error;
  };
  const steps = [step('database'), step('requests', new Error('later')), step('server', new Error('first'))];
  await expect(undoAll(steps)).rejects.toThrow('first');
  expect(undone).toEqual(['server', 'requests', 'database']);
  await undoAll(steps);
  expect(undone).toHaveLength(3);
});
