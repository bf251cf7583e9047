import { Writable } from 'node:stream';
import { Spinner } from './spinner';

const CLEAR = '\r\u001b[K';

describe('the spinner', () => {
  let written: string[];
  let stream: Writable;
  beforeEach(() => {
    jest.useFakeTimers();
    written = [];
    stream = new Writable({
      write(chunk: Buffer, _, done) {
        written.push(chunk.toString());
        done();
      },
    });
  });
  afterEach(() => jest.useRealTimers());

  it('says what is waited for and for how long, once the wait is long enough', () => {
    const spinner = new Spinner(stream, 'storing rows', 1000);
    jest.advanceTimersByTime(900);
    expect(written).toEqual([]);
    jest.advanceTimersByTime(200);
    expect(written).toEqual([`${CLEAR}⠋ storing rows 1 s`, `${CLEAR}⠙ storing rows 1 s`]);
    spinner.label = 'storing 7 rows';
    jest.advanceTimersByTime(2000);
    expect(written.at(-1)!.slice(`${CLEAR}⠋`.length)).toBe(' storing 7 rows 3 s');
    spinner.stop();
  });

  it('makes room for other lines, and leaves nothing behind', () => {
    const spinner = new Spinner(stream, 'waiting', 0);
    jest.advanceTimersByTime(100);
    written = [];
    spinner.clear();
    spinner.clear();
    expect(written).toEqual([CLEAR]);
    jest.advanceTimersByTime(100);
    expect(written).toHaveLength(2);
    spinner.stop();
    expect(written.at(-1)).toBe(CLEAR);
    jest.advanceTimersByTime(1000);
    expect(written).toHaveLength(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('shows nothing at all of a short wait', () => {
    const spinner = new Spinner(stream, 'waiting', 1000);
    jest.advanceTimersByTime(500);
    spinner.stop();
    expect(written).toEqual([]);
  });
});
