import { errorCode, isConnectionLost } from './connection-lost';

const withCode = (code: string, message = code) => Object.assign(new Error(message), { code });

describe('isConnectionLost', () => {
  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAI_AGAIN', 'ENETUNREACH', 'ENOENT', '08006', '57P01', '53300'])(
    'holds for the code %s',
    (code) => expect(isConnectionLost(withCode(code))).toBe(true),
  );

  it.each([
    'Connection terminated unexpectedly',
    'timeout expired',
    'timeout exceeded when trying to connect',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
  ])('holds for the message "%s" of the client', (message) => expect(isConnectionLost(new Error(message))).toBe(true));

  it('looks at the first error of several and at the error of the driver', () => {
    const both = new AggregateError([withCode('ECONNREFUSED'), withCode('ETIMEDOUT')]);
    expect(isConnectionLost(both)).toBe(true);
    expect(isConnectionLost(Object.assign(new Error('failed'), { driverError: both }))).toBe(true);
    expect(errorCode(Object.assign(new Error('failed'), { driverError: withCode('23505') }))).toBe('23505');
  });

  it.each([
    withCode('57014'),
    withCode('23505'),
    withCode('53100'),
    withCode('22P02', 'connection terminated'),
    'text',
    null,
  ])('does not hold for other errors (%#)', (error) => expect(isConnectionLost(error)).toBe(false));
});
