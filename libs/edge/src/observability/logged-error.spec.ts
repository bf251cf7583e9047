import { loggedError } from './logged-error';

describe('A logged error', () => {
  it('says what and where, but nothing else that it carries', () => {
    const error = Object.assign(new TypeError('The list is empty'), {
      parameters: ['hunter2'],
      query: 'select hunter2',
    });
    expect(loggedError(error)).toEqual({
      type: 'TypeError',
      message: 'The list is empty',
      stack: expect.stringMatching(/^ +at .*logged-error\.spec/) as string,
    });
  });

  it('does not quote what a statement could not store', () => {
    const driverError = Object.assign(new Error('x'), { code: '22P02', detail: 'Key (a)=(hunter2) exists.' });
    const error = Object.assign(new Error('invalid input syntax for type uuid: "hunter2"'), { driverError });
    expect(loggedError(error)).toMatchObject({ code: '22P02', message: 'invalid input syntax for type uuid: "…"' });
    expect(JSON.stringify(loggedError(error))).not.toContain('hunter2');
  });

  it('goes on to its causes', () => {
    expect(loggedError(new Error('a', { cause: new Error('b', { cause: 'hunter2' }) }))).toMatchObject({
      message: 'a',
      cause: { message: 'b', cause: { type: 'string' } },
    });
  });

  it('says nothing of what is no error', () => {
    expect(loggedError({ password: 'hunter2' })).toEqual({ type: 'object' });
  });
});
