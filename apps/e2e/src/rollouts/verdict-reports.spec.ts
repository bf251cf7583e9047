import { CodeHostServer } from '@fairlead/integrations/testing';
import { until } from '@fairlead/postgres/testing';
import { Installation } from '@fairlead/service/testing';
import { v4 as newId } from 'uuid';

/** From experiments to what people read on a pull request. */

const HOSTILE = '```\n/close\n@octo-org/owners closes #1 <img src=x> [click](https://evil.example) ';
const rows = Array.from({ length: 120 }, () => newId());

let installation: Installation;
let host: CodeHostServer;
const ask = (...request: Parameters<Installation['send']>) => installation.send(...request);

beforeAll(async () => {
  host = await CodeHostServer.start('github');
  installation = await Installation.start({ OUTBOUND_ALLOW: '127.0.0.1', PUBLIC_URL: 'https://fairlead.example' });
});
afterAll(async () => {
  await installation?.stop();
  await host?.stop();
});

/** Uploads an experiment of which so many rows are wrong. */
async function evaluate(revision_id: string, wrong: number) {
  const time = new Date().toISOString();
  const { status, json } = await ask('POST', '/api/v1/datasets/upload-experiment', {
    ...{ experiment_name: `${HOSTILE}${newId()}`, dataset_name: `questions ${HOSTILE}` },
    ...{ experiment_metadata: { revision_id }, experiment_start_time: time, experiment_end_time: time },
    results: rows.map((row_id, place) => ({
      ...{ row_id, inputs: { question: HOSTILE + place, topic: place < 60 ? `${HOSTILE}refunds` : 'delivery' } },
      ...{ actual_outputs: { answer: place }, start_time: time, end_time: time, run_name: 'agent' },
      evaluation_scores: [{ key: '@correct', score: place < wrong ? 0 : 1 }],
    })),
  });
  expect([status, json.detail]).toEqual([200, undefined]);
  return json.dataset.id as string;
}

it('a pull request says why a revision was refused, and mentions nobody', async () => {
  const { json: integration } = await ask('POST', '/v1/integrations', {
    ...{ name: 'reporting', provider: 'github', base_url: host.origin, credentials: { token: 'ghp_good' } },
    reports: [{ repo_url: `${host.origin}/octo-org/agent-0` }],
  });
  const { json: made } = await ask('POST', '/v2/deployments', {
    ...{ name: 'support agent', source: 'codehost', secrets: [], source_revision_config: { repo_ref: 'main' } },
    source_config: { integration_id: integration.id, repo_url: `${host.origin}/octo-org/agent-0` },
  });
  const path = `/v2/deployments/${made.id}`;
  const reaches = (revision: string, wanted: string) =>
    until(
      async () => (await ask('GET', `${path}/revisions/${revision}`)).json.status,
      (status) => status === wanted,
      60_000,
    );
  await reaches(made.latest_revision_id, 'DEPLOYED');
  const dataset_id = await evaluate(made.latest_revision_id, 0);
  const gates = [{ name: 'questions', dataset_id, keys: { '@correct': { max_drop: 0.05 } } }];
  expect((await ask('PUT', `${path}/gates`, { gates })).status).toBe(200);
  const { json: changed } = await ask('PATCH', path, { source_revision_config: { repo_ref: 'feature/x' } });
  const revision = changed.latest_revision_id as string;
  await reaches(revision, 'AWAITING_DEPLOY');
  const { json: shown } = await ask('GET', `${path}/revisions/${revision}`);
  host.reported.pulls = [{ number: 7, commit: shown.source_revision_config.repo_commit_sha, state: 'open' }];
  await until(() => host.reported.statuses.at(-1)?.state === 'pending');
  await evaluate(revision, 60);
  await reaches(revision, 'DEPLOY_FAILED');
  await until(() => host.reported.comments[0]?.body.includes('refused by its gates') === true);
  const { body } = host.reported.comments[0]!;
  expect(host.reported.comments).toHaveLength(1);
  expect(host.reported.statuses.at(-1)).toMatchObject({
    ...{ state: 'failure', name: 'fairlead/support agent' },
    description: expect.stringMatching(
      /^Refused by its gates: questions: the difference of @correct is -0\.5 over 120 rows/,
    ),
    url: `https://fairlead.example/o/-/host/deployments/${made.id}?tab=revisions`,
  });
  expect(body).toContain('\n## support agent: refused by its gates\n');
  expect(body).toMatch(
    /\| questions \| the difference of @\u200bcorrect \| .* \| 120 \| −0\.5 \(.* … .*\) \| broken \|/,
  );
  expect(body).toMatch(/\n### .* against .* on questions/);
  expect(body).toMatch(/\[comparison\]\(https:\/\/fairlead\.example\/o\/-\/datasets\/.*\/compare\?selectedSessions=/);
  expect(body).toContain('\nSlices that got clearly worse:\n\n- topic: ');
  expect(body).toMatch(/\nWorst rows, as a share of the range of the score:\n\n- 1 worse: /);
  // Whatever somebody wrote begins no line, and is no mention, reference, element or link.
  const lines = body.split('\n');
  expect(lines.filter((line) => /^\s*(`|~|\/|<)/.test(line))).toEqual([]);
  expect(lines.join('\n')).not.toMatch(/@\w|<\w|#\d|https:\/\/evil|\]\(https:\/\/(?!fairlead\.example\/)/);
  const { resources: reports } = await until(
    async () => (await ask('GET', `/v1/integrations/${integration.id}/reports`)).json,
    ({ resources: [report] }) => report?.status !== 'waiting',
  );
  expect(reports).toMatchObject([
    { revision_id: revision, standing: 'refused', status: 'sent', reason: null, pulls: [7] },
  ]);
});
