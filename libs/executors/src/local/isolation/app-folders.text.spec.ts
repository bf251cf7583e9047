import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppFolders } from './app-folders.store';

it('of a source short files are read, and nothing that its user may not read or that does not end', async () => {
  const root = mkdtempSync(join(tmpdir(), 'fairlead-text-'));
  try {
    chmodSync(root, 0o711);
    const folder = new AppFolders(root).of('one');
    const build = await folder.emptyBuild('build');
    writeFileSync(join(build, 'Procfile'), 'web: x');
    expect(await folder.text(join(build, 'Procfile'))).toBe('web: x');
    expect(await folder.text(join(build, 'missing'))).toBeUndefined();
    writeFileSync(join(build, 'long'), '');
    truncateSync(join(build, 'long'), 64 * 1024 ** 2);
    expect(await folder.text(join(build, 'long'))).toBeUndefined();
    execFileSync('mkfifo', [join(build, 'pipe')]);
    expect(await folder.text(join(build, 'pipe'))).toBeUndefined();
    if (process.getuid?.() !== 0) return;
    writeFileSync(join(root, 'closed'), 'of the server', { mode: 0o600 });
    symlinkSync(join(root, 'closed'), join(build, 'link'));
    expect(await folder.text(join(build, 'link'))).toBeUndefined();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
