import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface LazyIndex {
  createTransformer(options: object): { process(source: string, path: string, given: object): { code: string } };
}
const lazyIndex = jest.requireActual<LazyIndex>('../../test/lazy-index.cjs');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-index-'));
  const one =
    'export const a = 1;\nexport async function b() {}\nexport interface C {}\nconst d = 2;\nexport { d as e };\n';
  writeFileSync(join(folder, 'one.ts'), one);
  writeFileSync(join(folder, 'two.ts'), "export abstract class F {}\nexport type G = F;\nexport * from './one';\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Names that an index of this text exports, and the files that were loaded when one of them was used. */
function exported(text: string, used: string): { readonly names: string[]; readonly loaded: string[] } {
  const transformer = lazyIndex.createTransformer({});
  const { code } = transformer.process(text, join(folder, 'index.ts'), { config: {}, transformerConfig: {} });
  const loaded: string[] = [];
  const module = { exports: {} as Record<string, unknown> };
  const load = (file: string) => {
    loaded.push(file);
    return {};
  };
  // oxlint-disable-next-line typescript/no-implied-eval -- It is code that was compiled here.
  new Function('module', 'require', code)(module, load);
  const names = Object.keys(module.exports).sort();
  void module.exports[used];
  return { names, loaded };
}

it('an index has the values of the files that it exports, and loads a file when one of them is used', () => {
  const index = "export * from './two';\nexport { a as z, type C } from './one';\nexport type { G } from './two';\n";
  expect(exported(index, 'z')).toEqual({ names: ['F', '__esModule', 'a', 'b', 'e', 'z'], loaded: ['./one'] });
});
