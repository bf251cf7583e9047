import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { Installation, OPERATOR } from '@fairlead/service/testing';

const TOOL = resolve(__dirname, '../../../../tools/admin/parked.mjs');

describe('npm run parked', () => {
  let installation: Installation;
  let id: string;

  beforeAll(async () => {
    installation = await Installation.start();
    const { rows } = await installation.database.pool.query<{ id: string }>(
      `insert into parked_subjects (consumer, subject, event_type, version, last_version, attempts, reason)
       values ('gone.Sent', 'parcel-1', 'Sent', 2, 5, 10, 'no such street') returning id`,
    );
    id = rows[0]!.id;
  });
  afterAll(() => installation?.stop());

  function run(args: string[], env: Record<string, string> = { FAIRLEAD_KEY: OPERATOR }) {
    return new Promise<{ code: number; output: string; errors: string }>((settle) => {
      const options = { env: { PATH: process.env.PATH, FAIRLEAD_URL: installation.url, ...env } };
      execFile(process.execPath, [TOOL, ...args], options, (error, output, errors) => {
        settle({ code: error ? Number(error.code) : 0, output, errors });
      });
    });
  }

  it('lists, shows and retries what consumers gave up on', async () => {
    expect(await run([])).toEqual({
      code: 0,
      output: `${id}  parked  gone.Sent  parcel-1 version 2, up to 3 behind, 10 attempts: no such street\n`,
      errors: '',
    });
    const shown = await run(['show', id]);
    expect(JSON.parse(shown.output)).toMatchObject({ id, status: 'parked', reason: 'no such street' });
    const retried = await run(['retry', '--all']);
    expect(JSON.parse(retried.output)).toMatchObject({ id, status: 'retrying', attempts: 0 });
    expect(await run(['list'])).toMatchObject({ output: expect.stringContaining(`${id}  retrying`) });
  });

  it('says in one line what is wrong', async () => {
    expect(await run([], {})).toMatchObject({ code: 2, errors: expect.stringContaining('FAIRLEAD_KEY') });
    expect(await run(['dance'])).toMatchObject({ code: 2 });
    expect(await run([], { FAIRLEAD_KEY: 'another' })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('401'),
    });
    expect(await run([], { FAIRLEAD_KEY: OPERATOR, FAIRLEAD_URL: 'http://127.0.0.1:1' })).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be asked: .+\n$/),
    });
  });

  it('is in what the service says of its health', async () => {
    await installation.database.pool.query('update parked_subjects set retry_at = null');
    const answer = await fetch(`${installation.url}/health/ready`);
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 200,
      body: {
        status: 'ready',
        degraded: expect.arrayContaining(['gone.Sent gave up on 1 subject: see /v1/parked-subjects.']),
      },
    });
  });
});
