import { MessageChannel } from 'node:worker_threads';
import { experiment, row } from '@fairlead/experiments/testing';
import { ExperimentLimits } from './experiment-limits';
import { LocalChecker, RemoteChecker, serveCheck, type UploadChecker } from './upload-checker';
import type { Verdict } from './upload-check';

const limits = new ExperimentLimits();
const body = Buffer.from(
  JSON.stringify(
    experiment(
      {},
      Array.from({ length: 3000 }, () => row()),
    ),
  ),
);

async function check(checker: UploadChecker, bytes: Buffer, size = 16 * 1024): Promise<Verdict> {
  for (let start = 0; start < bytes.length; start += size) {
    if (!(await checker.push(bytes.subarray(start, start + size)))) break;
  }
  return checker.finish();
}

function remote(): RemoteChecker {
  const { port1, port2 } = new MessageChannel();
  serveCheck(port2, limits, false);
  return new RemoteChecker(port1);
}

describe('checking at the other end of a port', () => {
  it.each([
    ['a valid body', body],
    ['a body with a fault in its middle', Buffer.from(body).fill('x', 200_000, 200_010)],
    ['a body that is cut off', body.subarray(0, 100_000)],
    ['a body with wrong members', Buffer.from(JSON.stringify(experiment({ experiment_name: 1 })))],
    ['a deep body', Buffer.from('['.repeat(1000))],
  ])('finds the same as checking here: %s', async (_, bytes) => {
    const [here, there] = [new LocalChecker(limits), remote()];
    expect(await check(there, bytes)).toEqual(await check(here, bytes));
    there.close();
  });

  it('stops asking for more once the verdict is certain', async () => {
    const checker = remote();
    const verdict = await check(checker, Buffer.concat([Buffer.from(']'), body]));
    expect(verdict).toMatchObject({ kind: 'invalid', total: 1 });
    await expect(checker.push(body)).resolves.toBe(false);
    checker.close();
  });

  it('fails when the other end goes away', async () => {
    const { port1, port2 } = new MessageChannel();
    const checker = new RemoteChecker(port1);
    port2.close();
    await expect(checker.finish()).rejects.toThrow('has ended');
  });
});
