import { WorkspaceColumns } from '@fairlead/postgres';

/** Chunks of source archives name the workspace of their archive. */
export class WorkspacesOfArchives1764900062500 extends WorkspaceColumns {
  readonly owners = { source_archive_chunks: ['archive_id', 'source_archives'] } as const;
}
