import * as ls from 'langsmith/vitest';
import { expect } from 'vitest';

// The reference of the example with an id changes from one run to the next.
const ID = '0f0e0d0c-0b0a-4908-8706-050403020100';
const round = process.env.ROUND;

ls.describe('capitals by vitest', () => {
  const example = { id: ID, inputs: { country: 'Peru' }, referenceOutputs: { capital: 'Lima', round } };
  ls.test('names a capital', example, async ({ inputs, referenceOutputs }) => {
    const capital = inputs.country === 'Peru' ? 'Lima' : 'unknown';
    ls.logOutputs({ capital });
    // A function without a name: the run of the evaluator has an empty one.
    const graded = ls.wrapEvaluator(async (answer) => ({ key: 'graded', score: answer.capital.length }));
    await graded({ capital });
    ls.logFeedback({ key: 'letters', score: capital.length });
    expect(capital).toBe(referenceOutputs.capital);
  });
  ls.test.each([{ inputs: { country: 'Fiji' }, referenceOutputs: { capital: 'Suva' } }])('another', ({ inputs }) => {
    ls.logOutputs({ capital: inputs.country === 'Fiji' ? 'Suva' : 'unknown' });
  });
  ls.test('fails', { inputs: { country: 'Chad' }, referenceOutputs: { capital: "N'Djamena" } }, () => {
    expect('unknown').toBe("N'Djamena");
  });
});
