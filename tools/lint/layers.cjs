// Each library imports only those that its layer allows, and no library imports an application. A feature of the console
// imports no other feature, and what features share imports none of them. Imports of types and later imports count too.
const { relative } = require('node:path');
const { resolve } = require('./resolver.cjs');

const SHARED = 'What features share knows none of them.';
const APART = 'A feature of the console uses no other feature.';

/** The part of the repository that a file belongs to: its kind, and its name where there are several. */
function partOf(path) {
  const [, feature] = /^apps\/console\/src\/features\/([^/]+)/.exec(path) ?? [];
  if (feature) return { kind: 'feature', name: feature };
  if (/^apps\/console\/src\/(ui|api)\//.test(path)) return { kind: 'shared' };
  const [, kind, name] = /^(libs|apps)\/([^/]+)\//.exec(path) ?? [];
  return { kind, name };
}

/** The reason why a file of one part must not import one of another; undefined when it may. */
function refusal(from, to, mayImport) {
  if (from.kind === 'libs' && to.kind === 'libs') {
    const allowed = mayImport[from.name] ?? [];
    if (from.name === to.name || allowed.includes(to.name)) return undefined;
    return `libs/${from.name} imports only these libraries of ours: ${allowed.join(', ') || 'none'}.`;
  }
  if (from.kind === 'libs') return to.kind === undefined ? undefined : 'A library does not know the applications.';
  if (to.kind !== 'feature') return undefined;
  if (from.kind === 'shared') return SHARED;
  return from.kind === 'feature' && from.name !== to.name ? APART : undefined;
}

const rule = {
  meta: { type: 'problem', schema: [{ type: 'object' }] },
  create(context) {
    const from = partOf(relative(context.cwd, context.filename));
    const look = (node, source) => {
      if (typeof source?.value !== 'string') return;
      const { path } = resolve(source.value, context.filename);
      const message = path && refusal(from, partOf(relative(context.cwd, path)), context.options[0]);
      if (message) context.report({ node, message });
    };
    return {
      'ImportDeclaration, ExportNamedDeclaration, ExportAllDeclaration, ImportExpression': (node) =>
        look(node, node.source),
      TSImportType: (node) => look(node, node.source ?? node.argument?.literal),
      TSExternalModuleReference: (node) => look(node, node.expression),
      'CallExpression[callee.name="require"]': (node) => look(node, node.arguments[0]),
    };
  },
};

module.exports = { rule };
