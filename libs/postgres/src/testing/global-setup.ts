import { spawn } from 'node:child_process';
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../database/database';
import { startEmbedded } from '../embedded/embedded';

/** A file system in memory on Linux: to make a database there takes a tenth of the processor time. */
const MEMORY = '/dev/shm';
/** Least free memory for that (bytes). A whole run was seen to take 218 MB there; the server's log may take 2 GB more. */
const LEAST_MEMORY = 10 * 2 ** 30;

/** Starts the PostgreSQL server of a test run. It is fast instead of durable and lives in a temporary directory. */
export default async function globalSetup(): Promise<void> {
  const directory = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), 'fairlead-test-'));
  const server = await startEmbedded({
    dataDir: join(directory, 'postgres'),
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' },
  });
  await makeConnectionsCheap(server.url);
  process.env.FAIRLEAD_TEST_DATABASE_URL = server.url;
  process.env.FAIRLEAD_TEST_RUN = String(process.pid);
  // Ends the server when this process is gone, also after Ctrl-C or kill -9: then nothing holds the pipe open.
  const script = `cat; kill -INT $1 2>&-; while kill -0 $1 2>&-; do sleep 0.1; done; rm -rf "$2"`;
  const guard = spawn('sh', ['-c', script, 'guard', String(server.pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  globalThis.fairleadTestServer = {
    async stop() {
      await server.stop();
      guard.ref();
      await new Promise((resolve) => guard.once('exit', resolve).stdin.end());
    },
  };
}

/** True when the file system in memory may hold the server, and memory would be left. */
function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= LEAST_MEMORY;
  } catch {
    return false;
  }
}

/** Stores the password anew, with one round of its hash instead of 4096: a test run opens thousands of connections. */
async function makeConnectionsCheap(url: string): Promise<void> {
  const client = await connect(url);
  try {
    await client.query('set scram_iterations = 1');
    await client.query(`alter role current_user password ${client.escapeLiteral(new URL(url).password)}`);
  } finally {
    await client.end();
  }
}

declare global {
  var fairleadTestServer: { stop(): Promise<void> } | undefined;
}
