import { posix } from 'node:path';
import { isObject } from '@fairlead/schema';
import { type Members, NoRecipe } from './source-tree';

type Language = 'node' | 'python';

const ENDINGS: Readonly<Record<Language, readonly string[]>> = {
  node: ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx'],
  python: ['.py', '.pyx', '.pyd', '.pyi'],
};
/** Paths of the graphs, without what they export, in order. */
export function graphFiles({ graphs }: Members): string[] {
  if (!isObject(graphs)) return [];
  return Object.values(graphs).flatMap((graph) => {
    const path = isObject(graph) ? graph.path : graph;
    return typeof path === 'string' ? path.split(':')[0]! : [];
  });
}

/**
 * The language of the graphs: that of their endings, as the LangGraph command lines see it, then that of
 * `node_version` or `python_version`, then that of the files beside it.
 * @throws NoRecipe when graphs are in both languages
 */
export function languageOf(config: Members, file: string, hasPackageJson: boolean): Language {
  const graphs = graphFiles(config);
  const inLanguage = (language: Language) => graphs.find((path) => ENDINGS[language].includes(posix.extname(path)));
  const [node, python] = [inLanguage('node'), inLanguage('python')];
  if (node !== undefined && python !== undefined) {
    throw new NoRecipe(
      `${file} has graphs in JavaScript (${node}) and in Python (${python}), which no LangGraph server for ` +
        'development serves together: deploy them as two deployments, each with a configuration of its own.',
    );
  }
  if (node !== undefined) return 'node';
  if (python !== undefined) return 'python';
  const [wantsNode, wantsPython] = [isSet(config.node_version), isSet(config.python_version)];
  if (wantsNode !== wantsPython) return wantsNode ? 'node' : 'python';
  return hasPackageJson && !isSet(config.dependencies) ? 'node' : 'python';
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
