import * as ls from 'langsmith/vitest';
import { expect } from 'vitest';

ls.describe('capitals by vitest', () => {
  const example = { inputs: { country: 'Peru' }, referenceOutputs: { capital: 'Lima' } };
  ls.test('names a capital', example, ({ inputs, referenceOutputs }) => {
    const capital = inputs.country === 'Peru' ? 'Lima' : 'unknown';
    ls.logOutputs({ capital });
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
