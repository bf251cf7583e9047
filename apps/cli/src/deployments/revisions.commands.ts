import { examples } from '../output/help';
import type { Command } from 'commander';
import { does } from '../api/context';
import { reasonHeader } from '../api/api';
import { showRevisions } from '../output/deployments.show';
import { type ListOptions, listed, type PageQuery } from '../api/lists';
import { deploymentId, findDeployment, revisionId } from '../api/lookups';
import type { Revision } from '../api/records';
import { addLines, filters, reaches } from '../table/group';

const STATUSES = [
  ...['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'],
  ...['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN'],
];

export function addRevisions(all: Command): void {
  const group = all.command('revisions').alias('revision').description('what a deployment ran and runs');
  const list = group
    .command('list')
    .alias('ls')
    .description('list revisions, the newest first')
    .argument('<deployment>', 'id or name');
  examples(list, 'revisions list support-agent');
  const query = filters(list, 'GET /v2/deployments/{deployment_id}/revisions', 'revision', {
    words: { status: STATUSES },
  });
  does<ListOptions>(list, async (context, [name], options) => {
    const { id, active_revision_id } = await findDeployment(context.api, name!);
    const filter = await query(context, options);
    const read = (page: PageQuery) => context.api.page(`/v2/deployments/${id}/revisions`, { ...filter, ...page });
    const { items, json } = await listed<Revision>(context, options, read);
    if (context.out.json) context.out.text(json);
    else if (items.length === 0) context.out.note('No revisions.');
    else showRevisions(context, items, active_revision_id);
  });
  addLines(group, {
    get: {
      route: 'GET /v2/deployments/{deployment_id}/revisions/{revision_id}',
      example: 'support-agent 0198c1f0-0000-7000-8000-000000000001',
    },
  });

  const interrupt = group
    .command('interrupt')
    .description('end a revision that waits or is being rolled out')
    .argument('<deployment>', 'id or name')
    .argument('<revision>', 'its id')
    .option('--reason <text>', 'why, for the history');
  examples(interrupt, "revisions interrupt support-agent 0198c1f0-0000-7000-8000-000000000001 --reason 'wrong branch'");
  reaches(interrupt, 'POST /v2/deployments/{deployment_id}/revisions/{revision_id}/interrupt');
  does<{ reason?: string }>(interrupt, async (context, [name, revision], { reason }) => {
    const which = revisionId(revision!);
    const path = `/v2/deployments/${await deploymentId(context.api, name!)}/revisions/${which}/interrupt`;
    const headers = reasonHeader(reason);
    const { text } = await context.api.command({ method: 'POST', path, body: '{}', headers });
    if (context.out.json) context.out.text(text);
    else context.out.line(`Revision ${revision}: ${(JSON.parse(text) as Revision).status}`);
  });
}
