import { SourceArchives } from '@fairlead/contracts';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { CommandExecutor, type CommandSettings } from './command-executor.client';
import { TENANT, TestRollouts } from '@fairlead/rollouts/testing';

let service: TestRollouts;
let home: string;
beforeEach(async () => {
  service = await TestRollouts.create();
  home = mkdtempSync(join(tmpdir(), 'fairlead-command-'));
});
afterEach(async () => {
  await service.drop();
  rmSync(home, { recursive: true, force: true });
});

/** A shell script that a test reads back from. */
function script(name: string, text: string): string {
  const file = join(home, name);
  writeFileSync(file, `#!/bin/sh\nset -e\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}
const file = (name: string) => join(home, name);
const start = (settings: CommandSettings, environment: Record<string, string> = {}) =>
  service.start(new CommandExecutor(settings, { PATH: process.env.PATH, ...environment }));
const messages = async (path: string, body = {}) => {
  const { json } = await service.logs(path, { limit: 1000, ...body });
  return (json.logs as { message: string }[]).map(({ message }) => message);
};
const image = (image_uri: string) => ({ source: 'external_container', source_revision_config: { image_uri } });

describe('a command', () => {
  it('builds and deploys with the revision in its environment', async () => {
    const env = file('env');
    await start({
      build: script('build', 'echo built; echo registry.example/built:7 > "$FAIRLEAD_IMAGE_FILE"'),
      deploy: script('deploy', `env | sort > ${env}; echo "deploying $FAIRLEAD_IMAGE_URI"; echo careful >&2`),
    });
    const id = await service.deployment({ repo_url: 'https://code.example/a/b' }, { TOKEN: 'sesame-open' });
    const rid = await service.revision(id, { resource_spec: { cpu: 2 } });
    await service.reached(id, rid, 'DEPLOYED');
    expect(await messages(`${id}/revisions/${rid}/build_logs`)).toEqual(['built']);
    const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`);
    expect(json.logs.map(({ level, message }: { level: string; message: string }) => [level, message])).toEqual(
      expect.arrayContaining([
        ['INFO', 'deploying registry.example/built:7'],
        ['WARNING', 'careful'],
      ]),
    );
    expect(readFileSync(env, 'utf8').split('\n')).toEqual(
      expect.arrayContaining([
        'FAIRLEAD_PHASE=deploy',
        `FAIRLEAD_TENANT_ID=${TENANT}`,
        `FAIRLEAD_DEPLOYMENT_ID=${id}`,
        `FAIRLEAD_REVISION_ID=${rid}`,
        'FAIRLEAD_REPO_URL=https://code.example/a/b',
        'FAIRLEAD_REPO_REF=main',
        'FAIRLEAD_RESOURCE_SPEC={"cpu":2}',
        'FAIRLEAD_SECRET_TOKEN=sesame-open',
      ]),
    );
    const reads = await service.store.read(`secretAccess-${id}`);
    expect(reads).toMatchObject([
      { type: 'SecretsRead', data: { names: ['TOKEN'] }, metadata: { actor: 'system:rollouts' } },
    ]);
  });

  it('sees nothing of the environment of the service but what it is passed', async () => {
    await start(
      { deploy: script('deploy', `env > ${file('env')}`), passEnv: ['PASSED'] },
      { FAIRLEAD_MASTER_KEY: 'master', DATABASE_URL: 'postgres://', PASSED: 'yes' },
    );
    const id = await service.deployment({}, { LD_PRELOAD: '/evil.so', PATH: '/evil' });
    await service.reached(id, await service.revision(id, image('registry.example/a:1')), 'DEPLOYED');
    const env = readFileSync(file('env'), 'utf8');
    expect(env).toMatch(/^PASSED=yes$/m);
    expect(env).not.toMatch(/^(FAIRLEAD_MASTER_KEY|DATABASE_URL|LD_PRELOAD)=/m);
    expect(env).toContain(`\nPATH=${process.env.PATH}\n`);
  });

  it('takes a value as one argument, whatever is in it', async () => {
    const hostile = `a:1; touch ${file('owned')} $(touch ${file('owned')}) \`touch ${file('owned')}\` "' \n *`;
    await start({ deploy: `${script('deploy', `printf '%s|%s' "$#" "$1" > ${file('seen')}`)} {image_uri}` });
    const id = await service.deployment();
    await service.reached(id, await service.revision(id, image(hostile)), 'DEPLOYED');
    expect(readFileSync(file('seen'), 'utf8')).toBe(`1|${hostile}`);
    expect(existsSync(file('owned'))).toBe(false);
    const options = await service.revision(id, image('--privileged'));
    await service.reached(id, options, 'DEPLOY_FAILED');
  });

  it('that is not done when a newer revision comes is ended, and the newer one is deployed', async () => {
    const done = file('done');
    const deploy = `case "$FAIRLEAD_IMAGE_URI" in *:slow) echo begun; touch ${file('begun')}; sleep 600;; esac; echo "$FAIRLEAD_IMAGE_URI" >> ${done}`;
    await start({ deploy: script('deploy', deploy) });
    const id = await service.deployment();
    const slow = await service.revision(id, image('registry.example/a:slow'));
    await until(() => existsSync(file('begun')));
    await service.reached(id, slow, 'DEPLOYING');
    const newer = await service.replace(id, slow, image('registry.example/a:2'));
    await service.reached(id, newer, 'DEPLOYED');
    expect((await service.statuses(id, slow)).at(-1)).toBe('INTERRUPTED');
    expect(await messages(`${id}/revisions/${slow}/deploy_logs`)).toEqual(
      expect.arrayContaining(['begun', expect.stringContaining(`the newer revision ${newer} took its place`)]),
    );
    expect(readFileSync(done, 'utf8')).toBe('registry.example/a:2\n');
  });

  it('fails with its exit code', async () => {
    await start({ build: script('build', 'echo trying; exit 3') });
    const id = await service.deployment();
    const rid = await service.revision(id);
    await service.reached(id, rid, 'BUILD_FAILED');
    expect(await messages(`${id}/revisions/${rid}/build_logs`)).toEqual([
      'trying',
      expect.stringMatching(/exit code 3/),
    ]);
  });

  it('that is not there fails, too', async () => {
    await start({ deploy: file('missing') });
    const id = await service.deployment();
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect((await messages(`${id}/revisions/${rid}/deploy_logs`)).at(-1)).toMatch(/ENOENT/);
  });

  it.each(['the time limit', 'an interrupt'])('is killed with all that it started at %s', async (how) => {
    service.options = how === 'the time limit' ? { timeLimit: 5000 } : {};
    const pids = file('pids');
    await start({
      deploy: script('deploy', `sh -c 'trap "" TERM; sleep 60 & echo $! > ${pids}; wait; sleep 60' & wait`),
    });
    const id = await service.deployment();
    const rid = await service.revision(id, image('a:1'));
    const pid = Number(
      await until(
        () => (existsSync(pids) ? readFileSync(pids, 'utf8') : ''),
        (text) => text.length > 1,
      ),
    );
    if (how === 'an interrupt') await service.interrupt(id, rid);
    await service.reached(id, rid, how === 'an interrupt' ? 'INTERRUPTED' : 'DEPLOY_FAILED');
    await until(
      () => alive(pid),
      (is) => !is,
    );
  });

  it('shows no secret in a log, not even in pieces or encodings', async () => {
    const secret = 'p4ss/w0rd+with "quotes"';
    const multiline = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----';
    const text = [
      'echo "plain $FAIRLEAD_SECRET_TOKEN end"',
      'printf p4ss/w0; sleep 0.2; printf \'rd+with "quotes" tail\\n\'',
      'printf %s "$FAIRLEAD_SECRET_TOKEN" | base64',
      'printf "hex %s\\n" "$(printf %s "$FAIRLEAD_SECRET_TOKEN" | od -An -v -tx1 | tr -d " \\n")"',
      'encoded="$(printf user:%s "$FAIRLEAD_SECRET_TOKEN" | base64)"',
      'printf %s "$encoded" | head -c 13; sleep 0.2; printf "%s\\n" "$encoded" | tail -c +14',
      'echo "$FAIRLEAD_SECRET_KEY" >&2',
      `head -c 16380 /dev/zero | tr '\\0' x; echo "$FAIRLEAD_SECRET_TOKEN"`,
      'exit 1',
    ];
    await start({ deploy: script('deploy', text.join('\n')) });
    const id = await service.deployment({}, { TOKEN: secret, KEY: multiline });
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOY_FAILED');
    const all = (await messages(`${id}/revisions/${rid}/deploy_logs`)).join('\n');
    expect(all).toContain('plain [redacted] end');
    expect(all).toContain('[redacted] tail');
    expect(all).toContain('hex [redacted]');
    expect(all).toMatch(/^dXNlcj\[redacted\]$/m);
    expect(all).not.toContain(Buffer.from(secret).toString('hex').slice(0, 8));
    for (const part of ['p4ss', 'w0rd', 'MIIEvQ', Buffer.from(secret).toString('base64').slice(0, 8)]) {
      expect(all).not.toContain(part);
    }
  });

  it('gets the uploaded source as a file, and leaves nothing behind', async () => {
    service.archives = new (class extends SourceArchives {
      override async open(...asked: string[]) {
        if (asked[2] !== 'uploaded') return undefined;
        return (async function* () {
          yield Buffer.from('tar');
          yield Buffer.from('ball');
        })();
      }
    })();
    // Other tests make such folders at the same time.
    const made = jest.spyOn(promises, 'mkdtemp');
    await start({ build: script('build', `cat "$FAIRLEAD_SOURCE_TARBALL" > ${file('copy')}`) });
    const id = await service.deployment();
    const from = (source_tarball_path: string) => ({
      source: 'internal_source',
      source_revision_config: { source_tarball_path },
    });
    await service.reached(id, await service.revision(id, from('uploaded')), 'DEPLOYED');
    expect(readFileSync(file('copy'), 'utf8')).toBe('tarball');
    const missing = await service.revision(id, from('nothing'));
    await service.reached(id, missing, 'BUILD_FAILED');
    expect(await messages(`${id}/revisions/${missing}/build_logs`)).toEqual([
      'Nothing was uploaded to source_tarball_path.',
    ]);
    const folders = await Promise.all(made.mock.results.map(({ value }) => value as Promise<string>));
    made.mockRestore();
    expect(folders.length).toBeGreaterThan(0);
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
  });

  it('takes a deployment away when it is deleted', async () => {
    await start({ delete: script('delete', `echo "$FAIRLEAD_PHASE $FAIRLEAD_DEPLOYMENT_ID" > ${file('gone')}`) });
    const id = await service.deployment();
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(readFileSync(file('gone'), 'utf8')).toBe(`delete ${id}\n`);
  });
});

describe('logs', () => {
  it('are paged both ways, filtered, and another tenant finds none', async () => {
    await start({ deploy: script('deploy', 'for n in 1 2 3 4 5; do echo "line $n"; done; echo "100% wrong" >&2') });
    const id = await service.deployment();
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOYED');
    const path = `${id}/revisions/${rid}/deploy_logs`;
    const { json: first } = await service.logs(path, { order: 'asc', limit: 2, level: 'INFO' });
    expect(first.logs).toMatchObject([
      { id: expect.any(String), timestamp: expect.stringMatching(/Z$/), level: 'INFO', message: 'line 1' },
      { message: 'line 2' },
    ]);
    const { json: second } = await service.logs(path, { limit: 2, level: 'INFO', offset: first.next_offset });
    expect(second.logs.map(({ message }: { message: string }) => message)).toEqual(['line 3', 'line 4']);
    const { json: end } = await service.logs(path, { offset: second.next_offset, query: 'nothing like it' });
    expect(end).toEqual({ logs: [], next_offset: null });
    expect((await messages(path, { order: 'desc', level: 'INFO' }))[0]).toBe('line 5');
    expect(await messages(path, { query: '% WRONG' })).toEqual(['100% wrong']);
    expect(await messages(`${id}/deploy_logs`, { level: 'WARNING' })).toEqual(['100% wrong']);
    expect(await messages(path, { start_time: '2999-01-01T00:00:00Z' })).toEqual([]);
    expect(await messages(path, { end_time: '2999-01-01T00:00:00Z', level: 'WARNING' })).toHaveLength(1);
    const missing = '01980000-0000-7000-8000-000000000404';
    expect(await service.logs(path, {}, 'stranger')).toMatchObject({
      status: 404,
      json: { detail: `Deployment ID ${id} not found.` },
    });
    expect(await service.logs(`${id}/revisions/${missing}/build_logs`)).toMatchObject({ status: 404 });
    expect(await service.logs(path, { order: 'up', limit: 0 })).toMatchObject({ status: 422 });
  });

  it('are those of the phase, the revision and the time that are asked for', async () => {
    await start({});
    const id = await service.deployment();
    const [one, two] = [await service.revision(id, image('a:1')), await service.revision(id, image('a:2'))];
    const { pool } = service.database;
    const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;
    for (const [revision, phase, minute] of [
      [one, 'build', 1],
      [one, 'deploy', 2],
      [one, 'deploy', 3],
      [two, 'deploy', 4],
    ]) {
      await pool.query(
        `insert into rollout_logs (deployment_id, revision_id, phase, level, logged_at, message) values ($1, $2, $3, 'ERROR', $4, $5)`,
        [id, revision, phase, at(Number(minute)), String(minute)],
      );
    }
    // What the rollouts themselves say is no error.
    const errors = (path: string, body = {}) => messages(path, { level: 'error', ...body });
    const all = `${id}/deploy_logs`;
    expect(await errors(all)).toEqual(['2', '3', '4']);
    expect(await errors(`${id}/revisions/${one}/deploy_logs`)).toEqual(['2', '3']);
    expect(await errors(`${id}/revisions/${one}/build_logs`)).toEqual(['1']);
    expect(await errors(`${id}/revisions/${two}/build_logs`)).toEqual([]);
    for (const phase of ['build_logs', 'deploy_logs']) {
      expect((await service.logs(`${id}/revisions/${one}/${phase}`)).status).toBe(200);
    }
    expect(await errors(all, { start_time: at(3) })).toEqual(['3', '4']);
    expect(await errors(all, { end_time: at(3) })).toEqual(['2', '3']);
    expect(await errors(all, { query: '%' })).toEqual([]);
    const { status, json: last } = await service.logs(all, { order: 'desc', limit: 2, level: 'ERROR' });
    expect(status).toBe(200);
    expect(last.logs[0]).toEqual({ id: expect.any(String), timestamp: at(4), level: 'ERROR', message: '4' });
    expect(await errors(all, { order: 'desc', offset: last.next_offset })).toEqual(['2']);
    expect(await errors(all, { offset: Number(last.next_offset) })).toEqual(['4']);
  });

  it('are given out a hundred lines at a time, a thousand at most', async () => {
    await start({});
    const id = await service.deployment();
    await service.database.pool.query(
      `insert into rollout_logs (deployment_id, phase, level, logged_at, message)
       select $1, 'deploy', 'INFO', now(), n::text from generate_series(1, 1001) as n`,
      [id],
    );
    const path = `${id}/deploy_logs`;
    const first = await service.logs(path);
    expect([first.status, first.json.logs.length]).toEqual([200, 100]);
    expect((await service.logs(path, { limit: 1000 })).json.logs).toHaveLength(1000);
    expect((await service.logs(path, { limit: 1001 })).status).toBe(422);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
