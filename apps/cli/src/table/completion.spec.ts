import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../program';
import { completionScript, places } from './completion';

/** The shells themselves complete lines, each where it is installed. */

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'fairlead-completion-'))));
afterAll(() => rmSync(folder, { recursive: true }));

type Complete = (line: string) => string[];

const inFolder = () => ({
  cwd: folder,
  encoding: 'utf8' as const,
  env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
});

function script(shell: string): string {
  const file = join(folder, `fairlead.${shell}`);
  writeFileSync(file, completionScript(shell, program()));
  return file;
}

const COMPLETE: Readonly<Record<string, Complete>> = {
  bash: (line) => {
    const words = line.split(' ');
    const call = `source ${script('bash')}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fairlead; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '-c', call, 'bash', ...words], inFolder()).split('\n');
  },
  zsh: (line) => {
    // What the function hands to the shell's own functions is printed in place of being offered.
    const shown = `compdef() { : }; _describe() { print -rl -- \${\${(P)@[-1]}%%:*} }; _files() { print -rl -- *(N) }; compadd() { shift; print -rl -- $@ }`;
    const call = `${shown}; source ${script('zsh')}; words=("$@"); CURRENT=$#; PREFIX=$words[-1]; _fairlead`;
    const all = execFileSync('zsh', ['-f', '-c', call, 'zsh', ...line.split(' ')], inFolder());
    return all.split('\n').filter((word) => word.startsWith(line.split(' ').at(-1)!));
  },
  fish: (line) => {
    const call = `source ${script('fish')}; complete -C "${line}"`;
    const all = execFileSync('fish', ['--no-config', '-c', call], inFolder());
    return all.split('\n').map((each) => each.split('\t')[0]!);
  },
};

/** A name that anybody in the workspace may give to a deployment. */
const HOSTILE = 'Support $(touch pwned) `touch pwned` Agent';

/** Puts a program `fairlead` into the folder that prints names and keeps the words that it was called with. */
function stubProgram(): void {
  writeFileSync(
    join(folder, 'fairlead'),
    `#!/bin/sh\necho "$@" > called\nprintf '%s\\n' '${HOSTILE}' 'support-agent'\n`,
  );
  chmodSync(join(folder, 'fairlead'), 0o755);
}

describe.each(Object.keys(COMPLETE))('%s', (shell) => {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;
  const complete = COMPLETE[shell]!;

  (isThere ? it : it.skip)('completes commands, options and their words, and names of files', () => {
    expect(complete('fairlead deploy')).toContain('deployments');
    expect(complete('fairlead webhooks re')).toContain('redeliver');
    expect(complete('fairlead webhook redel')).toContain('redeliver');
    expect(complete('fairlead --url http://h deployments cr')).toContain('create');
    expect(complete('fairlead deployments list --sta')).toContain('--status');
    expect(complete('fairlead deployments list --js')).toContain('--json');
    expect(complete('fairlead deployments list --status RE')).toContain('READY');
    expect(complete('fairlead integrations create --provider git')).toEqual(
      expect.arrayContaining(['github', 'gitlab', 'gitea'].filter((name) => name.startsWith('git'))),
    );
    writeFileSync(join(folder, 'deployment.yaml'), '');
    expect(complete('fairlead deployments create -f deploy')).toContain('deployment.yaml');
  });

  (isThere ? it : it.skip)('completes the names of things, and runs nothing that a name holds', () => {
    stubProgram();
    for (const line of ['fairlead deployments get s', 'fairlead deployments list --deployment-ids s']) {
      expect(complete(line)).toContain('support-agent');
      expect(readFileSync(join(folder, 'called'), 'utf8')).toMatch(/^completion names deployment s?\n/);
    }
    const shown = complete('fairlead deployments get S').find((name) => name.startsWith('S'));
    // The shells' own quoting comes later in zsh and fish.
    expect([HOSTILE, 'Support\\ \\$\\(touch\\ pwned\\)\\ \\`touch\\ pwned\\`\\ Agent']).toContain(shown);
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
    expect(complete('fairlead deployments get support-agent --at-v')).toContain('--at-version');
  });
});

it('knows every command of the program', () => {
  const commands = places(program()).flatMap(({ path, commands }) => commands.map(({ name }) => `${path} ${name}`));
  expect(commands.length).toBeGreaterThan(100);
  for (const shell of Object.keys(COMPLETE)) {
    const text = completionScript(shell, program());
    for (const command of commands) expect(text).toContain(`'${command.trim()}'`.replace(/^'|'$/g, ''));
  }
});
