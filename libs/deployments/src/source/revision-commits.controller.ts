import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { CodeHostUnreachable, CommitComparisons } from '@fairlead/contracts';
import { Conflict, type Infer } from '@fairlead/schema';
import { Controller, Get, Inject, Optional } from '@nestjs/common';
import { NoCommit } from '../archives/source.errors';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { diffPath } from '../deployment/deployment.schema';
import type { Revision } from '../model/revision';
import { RevisionCommands } from '../revision/revision.commands';
import { revisionCommits } from './revision-commits.schema';

@Area('Revisions')
@Controller('v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/commits')
export class RevisionCommitsController {
  constructor(
    private readonly deployments: DeploymentCommands,
    private readonly revisions: RevisionCommands,
    @Optional() @Inject(CommitComparisons) private readonly commits: CommitComparisons | null,
  ) {}

  @Get()
  @Scope('read', { strict: true })
  @Describe({
    summary: 'List the commits between two revisions of a repository',
    description: 'Those that the second revision has and the first one has not, as the code host tells them now.',
  })
  @Answers({ 200: revisionCommits, 404: 'A revision has no commit.', 409: 'The deployment has no integration.' })
  async list(@Context() { tenantId }: CommandContext, @Path(diffPath) path: Infer<typeof diffPath>) {
    const { deployment_id: id, revision_id: from, other_id: to } = path;
    const [earlier, later] = await this.revisions.some(tenantId, id, [from, to]);
    const { integration_id, repo_url } = (await this.deployments.find(tenantId, id)).state.source_config;
    const [before, after] = [commitOf(earlier!), commitOf(later!)];
    if (!this.commits || !integration_id || !repo_url) throw new Conflict('The deployment has no integration.');
    const between = this.commits.between(tenantId, integration_id, repo_url, before, after);
    return { from, to, ...(await between.catch(told)) };
  }
}

/** @throws NoCommit */
function commitOf({ id, source_revision_config }: Revision): string {
  const { repo_commit_sha } = source_revision_config;
  if (!repo_commit_sha) throw new NoCommit(id);
  return repo_commit_sha;
}

/** Throws the answer of the host, which says more than that it may pass. */
function told(error: unknown): never {
  throw error instanceof CodeHostUnreachable && error.cause instanceof Error ? error.cause : error;
}
