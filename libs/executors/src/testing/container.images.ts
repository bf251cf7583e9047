import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Layer, layerOf } from './image.registry';

/** A program for containers that does what its path says, with the Node.js of this machine. */
const PROGRAM = `
const http = require('node:http'), fs = require('node:fs'), os = require('node:os');
const { VERSION, TOKEN, PORT } = process.env;
if (VERSION === 'broken') throw new Error('no model for ' + TOKEN);
console.log('starts ' + VERSION + ' with ' + TOKEN);
process.on('SIGTERM', () => VERSION === 'stubborn' || process.exit(0));
const address = () => Object.values(os.networkInterfaces()).flat().find(({ internal }) => !internal)?.address;
const does = {
  crash: () => process.exit(3),
  grow: () => { const held = []; setInterval(() => held.push(Buffer.alloc(16e6, 1)), 10); },
  fill: (bytes) => { fs.writeFileSync('/tmp/' + Date.now(), Buffer.alloc(Number(bytes), 1)); },
  shout: (lines) => { process.stdout.write('x'.repeat(1000).concat('\\n').repeat(Number(lines)) + 'the last line\\n', () => process.exit(0)); },
  trace: async () => {
    const { LANGSMITH_ENDPOINT, LANGSMITH_API_KEY } = process.env;
    const run = { id: crypto.randomUUID(), name: 'from a container', run_type: 'chain', start_time: new Date(), inputs: {} };
    const headers = { 'x-api-key': LANGSMITH_API_KEY, 'content-type': 'application/json' };
    const answer = await fetch(LANGSMITH_ENDPOINT + '/runs', { method: 'POST', headers, body: JSON.stringify(run) });
    return answer.status + ' ' + (await answer.text());
  },
  fetch: async (url) => fetch(decodeURIComponent(url), { signal: AbortSignal.timeout(3000) }).then(({ status }) => status, ({ cause }) => String(cause?.code)),
};
http.createServer(async (request, response) => {
  const [, verb, word] = /^\\/([^/]*)\\/?(.*)/.exec(request.url);
  const did = await does[verb]?.(word);
  response.end(JSON.stringify({
    did, version: VERSION, token: TOKEN, pid: process.pid, uid: process.getuid(), env: process.env, port: PORT,
    address: address(), status: fs.readFileSync('/proc/self/status', 'utf8'),
  }));
}).listen(PORT);
`;

/** Makes the layer of images whose program is `/app/node /app/server.js`, in a folder. */
export function makeProgramLayer(folder: string): Layer {
  const root = join(folder, 'layer');
  const libraries = spawnSync('ldd', [process.execPath], { encoding: 'utf8' }).stdout.match(/\/lib\S+/g) ?? [];
  for (const file of libraries) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    copyFileSync(realpathSync(file), join(root, file));
  }
  for (const name of ['app', 'tmp']) mkdirSync(join(root, name), { recursive: true });
  execFileSync('chmod', ['1777', join(root, 'tmp')]);
  copyFileSync(process.execPath, join(root, 'app', 'node'));
  writeFileSync(join(root, 'app', 'server.js'), PROGRAM);
  const archive = `${root}.tar`;
  execFileSync('tar', ['-cf', archive, '-C', root, '.']);
  rmSync(root, { recursive: true });
  return layerOf(archive);
}
