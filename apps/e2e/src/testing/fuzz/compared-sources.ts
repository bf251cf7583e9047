import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteService } from '../route-service';
import { type Ids, newDeployment } from '../tenant-things';

const CHANGED_FILE = 'agent.py';

/** Makes a deployment with two revisions of uploaded sources, which differ in one file. */
export async function comparedSources(service: RouteService, key: string): Promise<Ids> {
  const ask = <T>(method: string, path: string, body?: object) => service.ask<T>(method, path, key, body);
  const unset = { source: 'internal_source', source_revision_config: {} };
  const { id } = await ask<{ id: string }>('POST', '/v2/deployments', { ...newDeployment('sourced'), ...unset });
  const revisions: string[] = [];
  for (const text of ['print(1)\n', 'print(2)\n']) {
    type Issued = { upload_url: string; object_path: string };
    const { upload_url, object_path } = await ask<Issued>('POST', `/v2/deployments/${id}/upload-url`);
    const { pathname, search } = new URL(upload_url);
    const body = archiveOf(text);
    await fetch(service.url + pathname + search, {
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/gzip' },
    });
    const source_revision_config = { source_tarball_path: object_path };
    type Patched = { latest_revision_id: string };
    const { latest_revision_id } = await ask<Patched>('PATCH', `/v2/deployments/${id}`, { source_revision_config });
    revisions.push(latest_revision_id);
  }
  return { deployment_id: id, revision_id: revisions[0]!, other_id: revisions[1]! };
}

function archiveOf(text: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-compared-'));
  try {
    writeFileSync(join(folder, CHANGED_FILE), text);
    return execFileSync('tar', ['-cz', '-C', folder, '.']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
