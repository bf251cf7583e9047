// Lints texts as if they were files of the repository: reads a JSON list of { path, text } from standard input and prints
// the names of the rules that each violates. Rules that need types are left out, which takes seconds instead of a minute.
import { ESLint } from 'eslint';
import { text } from 'node:stream/consumers';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const eslint = new ESLint({
  cwd: root,
  overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
});
const planted = JSON.parse(await text(process.stdin));
const results = await Promise.all(
  planted.map((file) => eslint.lintText(file.text, { filePath: join(root, file.path) })),
);
console.log(JSON.stringify(results.map(([{ messages }]) => messages.map(({ ruleId }) => ruleId))));
