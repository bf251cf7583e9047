// `npm run test:containers`: runs the tests that need a real container engine, or those that are named, with Docker and
// with Podman, whichever of them are on this machine.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Specs named `….containers.spec.ts`. */
const SPECS = ['\\.containers\\.spec\\.ts$'];
const DOCKER = '/var/run/docker.sock';
const STARTING_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'fairlead-containers-'));
const isRoot = process.getuid?.() === 0;
const children = [];
const engines = [];
try {
  const docker = (await answers(DOCKER)) ? DOCKER : await startDocker();
  if (docker) engines.push({ name: 'Docker', socket: docker });
  const podman = await startPodman();
  if (podman) engines.push({ name: 'Podman', socket: podman });
  if (engines.length === 0) {
    console.log(
      'Nothing was tested: there is no container engine. Install Docker (apt-get install docker.io) or Podman' +
        ' (apt-get install podman runc); without root, Docker must be running.',
    );
  } else {
    console.log(`With ${engines.map(({ name, socket }) => `${name} at ${socket}`).join(' and ')}.`);
    // A server looks there for daemons that do not listen at their usual places.
    process.env.XDG_RUNTIME_DIR = folder;
    process.env.FAIRLEAD_ENGINES = JSON.stringify(engines);
    if (process.argv.length === 2) process.argv.push(...SPECS);
    await import('../test/test.mjs');
  }
} finally {
  for (const child of children) {
    child.kill();
    await child.ended;
  }
  for (const path of mounts().filter((one) => one.startsWith(`${folder}/`))) spawnSync('umount', ['--lazy', path]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Starts a daemon with all of its files in the folder; undefined where that does not work. */
async function startDocker() {
  if (!isRoot || !has('dockerd')) return undefined;
  const socket = join(folder, 'docker.sock');
  const paths = ['--data-root', join(folder, 'docker'), '--exec-root', join(folder, 'docker-run')];
  return start('dockerd', ['--host', `unix://${socket}`, ...paths, '--pidfile', join(folder, 'docker.pid')], socket);
}

/** Starts the API of Podman with all of its files in the folder; undefined where that does not work. */
async function startPodman() {
  if (!isRoot || !has('podman')) return undefined;
  const socket = join(folder, 'podman.sock');
  // Without these limits, and with crun, it starts nothing where processes may not raise their limits.
  const runtime = has('runc') ? '[engine]\nruntime = "runc"\n' : '';
  process.env.CONTAINERS_CONF = join(folder, 'containers.conf');
  process.env.CONTAINERS_REGISTRIES_CONF = join(folder, 'registries.conf');
  writeFileSync(
    process.env.CONTAINERS_CONF,
    `[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n${runtime}`,
  );
  // Tests serve images at ports of this machine, without TLS.
  writeFileSync(process.env.CONTAINERS_REGISTRIES_CONF, '[[registry]]\nlocation = "127.0.0.1"\ninsecure = true\n');
  // A Podman that a server starts uses the same.
  process.env.CONTAINERS_STORAGE_CONF = join(folder, 'storage.conf');
  const roots = `graphroot = "${join(folder, 'podman')}"\nrunroot = "${join(folder, 'podman-run')}"`;
  writeFileSync(process.env.CONTAINERS_STORAGE_CONF, `[storage]\ndriver = "overlay"\n${roots}\n`);
  return start('podman', ['system', 'service', '--time', '0', `unix://${socket}`], socket);
}

/** Starts a daemon; answers its socket once it answers there. */
async function start(command, args, socket) {
  const child = spawn(command, args, { cwd: folder, stdio: 'ignore' });
  child.ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  children.push(child);
  for (const end = Date.now() + STARTING_MS; Date.now() < end && child.exitCode === null; await delay(100)) {
    if (await answers(socket)) return socket;
  }
  console.log(`${command} does not start here: ${command} ${args.join(' ')}`);
  return undefined;
}

function answers(socketPath) {
  return new Promise((resolve) => {
    request({ socketPath, path: '/_ping', timeout: 5000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .once('error', () => resolve(false))
      .once('timeout', () => resolve(false))
      .end();
  });
}

function has(command) {
  return spawnSync(command, ['--version']).status === 0;
}

function mounts() {
  if (!existsSync('/proc/mounts')) return [];
  return execFileSync('cat', ['/proc/mounts'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
}
