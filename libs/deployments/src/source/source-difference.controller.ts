import { Answers, Area, CommandContext, Context, Describe, linkNext, Path, Query, Scope } from '@fairlead/api';
import { type Infer, NotFound } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { diffPath } from '../deployment/deployment.schema';
import { RevisionCommands } from '../revision/revision.commands';
import { fileDifference, fileQuery, filesQuery, sourceDifference } from '../archives/source-difference.schema';
import { SourceDifferences } from '../archives/source-differences.service';

@Area('Revisions')
@Controller('v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/files')
export class SourceDifferenceController {
  constructor(
    private readonly revisions: RevisionCommands,
    private readonly differences: SourceDifferences,
  ) {}

  @Get()
  @Scope('read', { load: 'upload', strict: true })
  @Describe({
    summary: 'Compare the uploaded sources of two revisions',
    description: 'Files that were added, removed or changed; their contents are not in the answer.',
    gives: ['Link'],
  })
  @Answers({ 200: sourceDifference, 404: 'A revision has no uploaded source.', 422: 'An archive cannot be read.' })
  async list(
    @Context() context: CommandContext,
    @Path(diffPath) path: Infer<typeof diffPath>,
    @Query(filesQuery) { offset, limit }: Infer<typeof filesQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { files, unchanged } = await this.differences.list(await this.compared(context, path));
    const end = Math.min(offset + limit, Math.max(files.length, offset));
    if (end < files.length) linkNext(reply, end);
    const ids = { from: path.revision_id, to: path.other_id };
    return { ...ids, files: files.slice(offset, end), offset: end, total: files.length, unchanged };
  }

  /** Contents of a source need more than reading, because they may hold what its author did not mean to show. */
  @Get('content')
  @Scope('write', { load: 'upload', strict: true })
  @Describe({ summary: 'Compare one file of the uploaded sources of two revisions' })
  @Answers({ 200: fileDifference, 404: 'No file of that path differs.', 422: 'An archive cannot be read.' })
  async find(
    @Context() context: CommandContext,
    @Path(diffPath) path: Infer<typeof diffPath>,
    @Query(fileQuery) query: Infer<typeof fileQuery>,
  ) {
    const difference = await this.differences.find(await this.compared(context, path), query.path);
    if (!difference) throw new NotFound('The revisions do not differ in a file of that path.');
    return difference;
  }

  private async compared({ tenantId }: CommandContext, path: Infer<typeof diffPath>) {
    const { deployment_id: deploymentId, revision_id, other_id } = path;
    const [from, to] = await this.revisions.some(tenantId, deploymentId, [revision_id, other_id]);
    const sourceOf = (revision: typeof from) => ({
      revisionId: revision!.id,
      path: revision!.source_revision_config.source_tarball_path ?? undefined,
    });
    return { tenantId, deploymentId, revisions: [sourceOf(from), sourceOf(to)] as const };
  }
}
