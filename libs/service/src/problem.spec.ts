import { writeProblem } from './problem';

const failure = (code: string, path: string) => Object.assign(new Error(`${code}: open '${path}'`), { code, path });

describe('A file that cannot be written', () => {
  it.each([
    ['EROFS', 'its file system is mounted read-only'],
    ['EACCES', 'this user may not write there'],
    ['ENOSPC', 'its disk is full'],
  ])('is told of with its reason when it is in the data directory: %s', (code, reason) => {
    expect(writeProblem(failure(code, '/data/master.key'), '/data')?.message).toBe(
      `The file /data/master.key cannot be written: ${reason}. Mend that or set FAIRLEAD_DATA_DIR.`,
    );
  });

  it('is an error like others anywhere else, and for any other reason', () => {
    expect(writeProblem(failure('EROFS', '/elsewhere/file'), '/data')).toBeUndefined();
    expect(writeProblem(failure('EISDIR', '/data/master.key'), '/data')).toBeUndefined();
    expect(writeProblem(new Error('no code'), '/data')).toBeUndefined();
  });
});
