import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesIn, root } from './testing/files';

interface Project {
  readonly root: string;
  readonly tags?: readonly string[];
  readonly targets?: Readonly<Record<string, { readonly cache?: boolean }>>;
}

const folders = ['apps', 'libs', 'tools'].flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .map(({ name }) => `${folder}/${name}`),
);
let projects: ReadonlyMap<string, Project>;

beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-projects-'));
  const file = join(directory, 'graph.json');
  const nx = join(root, 'node_modules/nx/dist/bin/nx.js');
  const env = { ...process.env, NX_DAEMON: 'false' };
  execFileSync(process.execPath, [nx, 'graph', `--file=${file}`], { cwd: root, env, stdio: 'pipe' });
  const { graph } = JSON.parse(readFileSync(file, 'utf8')) as { graph: { nodes: Record<string, { data: Project }> } };
  projects = new Map(Object.values(graph.nodes).map(({ data }) => [data.root, data]));
  rmSync(directory, { recursive: true });
});

it.each(folders)('%s has the tags and targets that belong to its files, all of them cached', (folder) => {
  const { tags = [], targets = {} } = projects.get(folder) ?? {};
  expect(tags).toContainEqual(expect.stringMatching(/^type:(app|domain|foundation|service|tool)$/));
  expect(tags).toContain(`scope:${folder.split('/')[1]}`);
  const sources = existsSync(join(root, folder, 'src')) ? filesIn(`${folder}/src`, /\.tsx?$/) : [];
  const wanted = [
    ...(existsSync(join(root, folder, 'package.json')) && folder !== 'apps/e2e' ? ['build'] : []),
    'lint',
    ...(sources.some((file) => file.endsWith('.spec.ts')) ? ['test'] : []),
    ...(sources.length > 0 ? ['typecheck'] : []),
  ];
  const names = ['build', 'lint', 'test', 'typecheck'].filter((name) => targets[name]?.cache);
  expect(names).toEqual(wanted);
});
