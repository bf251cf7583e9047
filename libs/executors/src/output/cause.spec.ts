import { causeIn } from './cause';

const stack = Array.from({ length: 12 }, (_, n) => `    at step${n} (/app/server.js:${n}:1)`);

it.each([
  [
    'Node.js, of a module that is missing',
    [
      'node:internal/modules/cjs/loader:1247',
      '  throw err;',
      "Error: Cannot find module 'express'",
      'Require stack:',
      ...stack,
      'Node.js v20.20.2',
    ],
    "Error: Cannot find module 'express' | Require stack:",
  ],
  [
    'Node.js, of source that it cannot read',
    ['/app/a.js:1', 'import x frm "x"', '       ^^^', 'SyntaxError: Unexpected identifier', ...stack],
    'SyntaxError: Unexpected identifier',
  ],
  [
    'Node.js, with a code',
    [
      'TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string',
      ...stack,
      "  code: 'ERR_INVALID_ARG_TYPE'",
      '}',
    ],
    'TypeError [ERR_INVALID_ARG_TYPE]: The "path"',
  ],
  [
    'Python, after a traceback',
    [
      'Traceback (most recent call last):',
      '  File "app.py", line 3, in <module>',
      '    import flask',
      "ModuleNotFoundError: No module named 'flask'",
    ],
    "ModuleNotFoundError: No module named 'flask'",
  ],
  [
    'Python, with one error from another',
    [
      "KeyError: 'TOKEN'",
      '',
      'During handling of the above exception, another exception occurred:',
      'pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings',
    ],
    'pydantic_core._pydantic_core.ValidationError: 1 validation error',
  ],
  [
    'npm, of a script that is missing',
    [
      'npm error Missing script: "build"',
      'npm error',
      'npm error To see a list of scripts, run:',
      'npm error A complete log of this run can be found in: /x',
    ],
    'npm error Missing script: "build"',
  ],
  [
    'npm, of a package that does not exist',
    [
      'npm error code E404',
      'npm error 404 Not Found - GET https://registry.example/nope',
      'npm error A complete log of this run can be found in: /x',
    ],
    'npm error 404 Not Found - GET https://registry.example/nope',
  ],
  [
    'a compiler',
    ['src/a.ts(3,7): error TS2322: Type is wrong.', 'src/b.ts(1,1): error TS2304: Other.'],
    'src/a.ts(3,7): error TS2322: Type is wrong.',
  ],
  [
    'pip',
    [
      'Collecting nope',
      'ERROR: Could not find a version that satisfies the requirement nope',
      'ERROR: No matching distribution found for nope',
    ],
    'ERROR: Could not find a version that satisfies',
  ],
  [
    'pip, which lists all versions that there are',
    [
      `ERROR: Ignored the following versions that require a different python version: ${'6.0 '.repeat(200)}`,
      `ERROR: Could not find a version that satisfies the requirement django>=6 (from versions: ${'1.1, '.repeat(900)})`,
      'ERROR: No matching distribution found for django>=6',
    ],
    'ERROR: Could not find a version that satisfies the requirement django>=6 (',
  ],
  [
    'Next.js, run by pnpm',
    [
      'getaddrinfo ENOTFOUND fonts.example',
      '[Error: getaddrinfo ENOTFOUND fonts.example] {',
      'Failed to compile.',
      'src/app/layout.tsx',
      '> Build failed because of webpack errors',
      ' ELIFECYCLE  Command failed with exit code 1.',
    ],
    'Failed to compile. | src/app/layout.tsx',
  ],
  [
    'Vite, run by Yarn',
    [
      'x Build failed in 42ms',
      'error during build:',
      'Could not resolve entry module "index.html".',
      'error Command failed with exit code 1.',
      'info Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.',
    ],
    'x Build failed in 42ms | error during build:',
  ],
  [
    'an exception of Python that is not named Error',
    [
      'Traceback (most recent call last):',
      '  File "manage.py", line 3, in <module>',
      'django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.',
    ],
    'django.core.exceptions.ImproperlyConfigured: The SECRET_KEY',
  ],
  [
    'a compiler of C, run by make',
    ['a.c:1:10: fatal error: Python.h: No such file or directory', 'make: *** [Makefile:3: a.o] Error 1'],
    'a.c:1:10: fatal error: Python.h',
  ],
  ['a shell', ['it begins', 'sh: 1: next: not found'], 'sh: 1: next: not found'],
  [
    'uvicorn',
    ['INFO: it begins', 'ERROR:    Error loading ASGI app. Could not import module "main".'],
    'ERROR:    Error loading ASGI app.',
  ],
])('the words of %s begin with the cause', (_, lines, cause) => {
  expect(causeIn(lines.map((line) => `\u001B[31m${line}\u001B[39m`)).slice(0, cause.length)).toBe(cause);
});

it('no line hides the next ones, however long it is', () => {
  const told = causeIn([
    `ERROR: Could not find a version (from versions: ${'1.1, '.repeat(900)})`,
    'ERROR: No match for x',
  ]);
  expect(told).toMatch(/^ERROR: Could not find a version .* … \| ERROR: No match for x$/);
});

it('the cause is not cut off by what follows it, and without one the last lines are told', () => {
  const noise = Array.from({ length: 50 }, (_, n) => `  at ${'x'.repeat(200)} ${n}`);
  expect(causeIn([...noise, 'Error: no model', ...noise])).toMatch(/^Error: no model \| /);
  expect(causeIn(['one', 'two'])).toBe('one | two');
  expect(causeIn(['', '  '])).toBe('');
});
