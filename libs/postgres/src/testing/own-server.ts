import { startEmbedded } from '../embedded/embedded';

/** A process that owns an embedded server until it is killed: `own-server.ts <data directory>`. */
async function main(dataDir: string): Promise<void> {
  const { url, pid } = await startEmbedded({ dataDir });
  console.log(JSON.stringify({ url, pid }));
}

void main(process.argv[2] ?? '');
