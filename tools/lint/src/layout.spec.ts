import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './testing/files';

/** Beginnings of doc comments that have no subject. */
const REFUSED = [
  ...['What', 'How', 'Whether', 'Of', 'That of', 'Those', 'Who', 'Such', 'Beyond', 'After so', 'So many', 'As it'],
  'One that',
];

/** A class with a member whose body has a number of lines. */
function routes(lines: number, decorator: string, head = 'async find()'): string {
  return `${decorator}\nexport class Routes {\n  ${head} {\n${'    // One line.\n'.repeat(lines)}  }\n}\n`;
}
const NEST = `import { Controller } from '@nestjs/common';\n`;

/** Texts as if they were files, and the one rule that each violates, if any. */
const PLANTED: readonly (readonly [why: string, path: string, text: string, rule?: string])[] = [
  ['another domain', 'libs/audit/src/audit.queries.ts', `import '@fairlead/access';`, 'fairlead/layers'],
  ['a domain', 'libs/edge/src/server.ts', `import '@fairlead/access';`, 'fairlead/layers'],
  ['a library above it', 'libs/blobs/src/blobs.store.ts', `import '@fairlead/experiments';`, 'fairlead/layers'],
  [
    'the library of comparisons above experiments',
    'libs/experiments/src/above.store.ts',
    `import '@fairlead/evaluation';`,
    'fairlead/layers',
  ],
  ...[
    ['runs', 'datasets'],
    ['datasets', 'experiments'],
  ].map(
    ([library, above]) =>
      [
        `${above} above ${library}`,
        `libs/${library}/src/above.store.ts`,
        `import '@fairlead/${above}';`,
        'fairlead/layers',
      ] as const,
  ),
  ['a library below it, which is allowed', 'libs/experiments/src/domain.ts', `import '@fairlead/blobs';`],
  ...['eventing', 'deployments', 'rollouts'].map(
    (library) =>
      [
        `${library}, which executors do not know`,
        'libs/executors/src/record/reports.ts',
        `import '@fairlead/${library}';`,
        'fairlead/layers',
      ] as const,
  ),
  ['an application', 'libs/service/src/run.ts', `import '../../../apps/cli/src/main';`, 'fairlead/layers'],
  ['another feature', 'apps/console/src/features/audit/a.tsx', `import '../runs/thread';`, 'fairlead/layers'],
  ['a feature', 'apps/console/src/ui/a.tsx', `export * from '../features/runs/thread';`, 'fairlead/layers'],
  ['what features share', 'apps/console/src/features/audit/a.tsx', `import '../../ui/parts';`],
  ...[
    `export * from '@fairlead/access';`,
    `void import('@fairlead/access');`,
    `type A = import('@fairlead/access').A; export type { A };`,
  ].map(
    (text) => ['another domain on another way', 'libs/audit/src/audit.queries.ts', text, 'fairlead/layers'] as const,
  ),
  ['a database', 'libs/deployments/src/model/deployment.ts', `import 'pg';`, 'no-restricted-imports'],
  ['a library of ours', 'apps/cli/src/main.ts', `import '@fairlead/schema';`, 'no-restricted-imports'],
  ...['libs/executors/src/record/reports.ts', 'libs/executors/src/record/reports.store.ts'].map(
    (path) =>
      [
        'an event, which executors do not know',
        path,
        `import type { RevisionCreatedMessage } from '@fairlead/contracts';\nexport type One = RevisionCreatedMessage;`,
        'no-restricted-imports',
      ] as const,
  ),
  ['a database', 'libs/executors/src/record/reports.ts', `import 'pg';`, 'no-restricted-imports'],
  [
    'what is to run, which executors are given',
    'libs/executors/src/record/reports.store.ts',
    `import type { RevisionSpec } from '@fairlead/contracts';\nexport type One = RevisionSpec;`,
  ],
  ['nothing, but has an ending of its own', 'libs/audit/src/audit.gadget.ts', '', 'fairlead/file-names'],
  ['a foundation, which is allowed', 'libs/audit/src/audit.queries.ts', `import '@fairlead/eventing';`],
  ['a database, which a store may', 'libs/audit/src/audit.store.ts', `import 'pg';`],
  ['nothing, and is pure', 'libs/audit/src/audited.ts', 'export {};'],
  ...[
    `export const late = AbortSignal.any([AbortSignal.timeout(9)]);`,
    `export const late = AbortSignal['timeout'](9);`,
    `export const late = [{ signal: AbortSignal.timeout(9) }];`,
    `export const get = () => { const signal = AbortSignal.timeout(9); return fetch('/', { signal }); };`,
  ].flatMap((text) =>
    ['libs/audit/src/audit.queries.ts', 'libs/audit/src/a.spec.ts', 'apps/console/src/late.tsx', 'tools/a.mjs'].map(
      (path) =>
        [`nothing, with a limit of time that can be lost in ${path}`, path, text, 'no-restricted-syntax'] as const,
    ),
  ),
  ...REFUSED.flatMap((beginning) => [`/** ${beginning} is told. */`, `/**\n * ${beginning}: told.\n */`]).map(
    (comment) =>
      [
        `nothing, with ${comment}`,
        'libs/audit/src/audited.ts',
        `${comment}\nexport {};`,
        'fairlead/doc-comments',
      ] as const,
  ),
  ...['libs/audit/src/a.spec.ts', 'apps/console/src/late.tsx', 'tools/a.mjs'].map(
    (path) =>
      [`nothing, with a comment in ${path}`, path, '/** What. */\nexport {};', 'fairlead/doc-comments'] as const,
  ),
  ...['/** Last reported status. */', '/** Whatsoever. */', '/* What lint skips. */', '// What lint skips.'].map(
    (comment) => [`nothing, with ${comment}`, 'libs/audit/src/audited.ts', `${comment}\nexport {};`] as const,
  ),
  ...[
    `import './describe';`,
    `export type { Area } from './describe';`,
    `export type { Area } from '../index';`,
    `export const later = import('./describe');`,
  ].map((text) => ['its importer', 'libs/api/src/route/access.ts', text, 'fairlead/circles'] as const),
  ['a file that does not import it', 'libs/api/src/route/describe.ts', `import './access';`],
  ...[`@Controller()`, `@Controller('v1/things')`]
    .flatMap((decorator) =>
      ['async find()', 'private find()', 'find = () =>'].map((head) => [decorator, head] as const),
    )
    .flatMap(([decorator, head]) =>
      ['libs/audit/src/audit.controller.ts', 'apps/gateway/src/routes.ts', 'libs/edge/src/a.spec.ts'].map(
        (path) =>
          [
            `nothing more, with 11 lines in ${head} of ${decorator} in ${path}`,
            path,
            NEST + routes(11, decorator, head),
            'fairlead/short-routes',
          ] as const,
      ),
    ),
  [
    'nothing more, with ten lines in a method',
    'libs/audit/src/audit.controller.ts',
    NEST + routes(10, `@Controller('v1')`),
  ],
  ...['@Res()', '@Response()', '@Next()'].map(
    (reply) =>
      [
        `nothing more, with a handler that takes ${reply}`,
        'libs/audit/src/audit.controller.ts',
        `class Taking { find(${reply} reply: unknown) { return reply; } }\nexport { Taking };`,
        'no-restricted-syntax',
      ] as const,
  ),
  [
    'nothing more, with a handler that only adds headers',
    'libs/audit/src/audit.controller.ts',
    'class Adding { find(@Res({ passthrough: true }) reply: unknown) { return reply; } }\nexport { Adding };',
  ],
  ['nothing, with 11 lines in a method of another class', 'libs/audit/src/audited.ts', routes(11, '')],
  ['nothing, with a limit of time that fetch holds', 'tools/a.mjs', `fetch('/', { signal: AbortSignal.timeout(9) });`],
];

describe('lint, of a file that imports', () => {
  let violated: string[][];
  beforeAll(() => {
    const input = JSON.stringify(PLANTED.map(([, path, text]) => ({ path, text })));
    const output = execFileSync(process.execPath, [join(root, 'tools/lint/planted.mjs')], { input });
    violated = JSON.parse(output.toString()) as string[][];
  });

  it.each(PLANTED.map(([why, path, , rule], nth) => ({ why, path, rule, nth })))('$why: $rule', ({ rule, nth }) => {
    expect(violated[nth]).toEqual(rule === undefined ? [] : [rule]);
  });
});
