import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import ts from 'typescript';
import { parse } from 'yaml';
import { asyncApi } from './asyncapi';
import { CATALOGUE, publications, upcastersOf } from './catalogue';
import type { LoggedEvent } from './row';
import { problemsOf } from '../testing';

interface Fixture {
  readonly event: LoggedEvent;
  readonly told: object;
}

const fixtures = JSON.parse(readFileSync(join(__dirname, '../fixtures/published.json'), 'utf8')) as Fixture[];
const publicTypes = [...publications.topics].filter(([, topic]) => topic !== 'internal.v1').map(([type]) => type);
const document = asyncApi();

const headersOf = ({ type, stream }: LoggedEvent) => ({
  ce_specversion: '1.0',
  ce_id: '019a0000-0000-7000-8000-000000000001',
  ce_source: '/fairlead',
  ce_type: type,
  ce_time: '2026-01-01T00:00:00.000Z',
  ce_subject: stream,
  ce_partitionkey: stream,
  ce_streamversion: '1',
  'content-type': 'application/json',
});

describe('asyncapi.yaml', () => {
  it('is what the catalogue says; `npm run asyncapi` writes it', () => {
    expect(parse(readFileSync(join(__dirname, '../../asyncapi.yaml'), 'utf8'))).toEqual(document);
  });

  it('is a valid AsyncAPI 3 document', () => {
    const path = require.resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
    const validate = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
    validate(document);
    expect(validate.errors).toBeNull();
  });

  it('describes exactly what is published, on the topic where it is', () => {
    const described = Object.values(document.channels).flatMap(({ address, messages }) =>
      Object.keys(messages).map((type) => `${type} on ${address}`),
    );
    const published = publicTypes.map((type) => `${type} on ${publications.topics.get(type)}`);
    expect(described.sort()).toEqual(published.sort());
  });
});

it('there is a fixture for every type whose facts are sent', () => {
  expect([...new Set(fixtures.map(({ event }) => event.type))].sort()).toEqual([...publications.topics.keys()].sort());
});

describe.each(fixtures)('$event.type', ({ event, told }) => {
  it('tells what is public, and nothing sealed or opaque', () => {
    expect(publications.data(event)).toEqual(told);
    expect(JSON.stringify(told)).not.toMatch(/sealed|digest|private/);
  });

  it('is as asyncapi.yaml says, when it is for everybody', () => {
    const problems = problemsOf(event.type, headersOf(event), publications.data(event));
    expect(problems).toEqual(publicTypes.includes(event.type) ? [] : [`${event.type} is not described.`]);
  });
});

it('a message that lacks something is found out', () => {
  const [{ event }] = fixtures as [Fixture];
  expect(problemsOf(event.type, {}, {})).toContain(" must have required property 'deployment_id'");
  expect(problemsOf('Unheard', {}, {})).toEqual(['Unheard is not described.']);
});

describe('the catalogue', () => {
  const row = (change: object) => [['Renamed', { schema: 1, operation: 'rename', ...change }]] as never;

  it('holds the upcasters of the shapes that have changed', () => {
    const upcast = (event: unknown) => event;
    expect(upcastersOf(row({}))).toEqual({});
    expect(upcastersOf(row({ schema: 2, upcast }))).toEqual({ Renamed: upcast });
  });

  it('names every operation as a verb and its object, or as the event', () => {
    const wrong = Object.entries(CATALOGUE).filter(([, { operation }]) => !/^[a-z]+(_[a-z]+)+$/.test(operation));
    expect(wrong).toEqual([]);
  });

  it('is of events that are all in a recorded history, which every version must still understand', () => {
    const libs = join(__dirname, '../../..');
    const files = readdirSync(libs).flatMap((library) =>
      ['src/recorded', 'src/history/recorded'].flatMap((place) => {
        const folder = join(libs, library, place);
        return existsSync(folder) ? readdirSync(folder).map((file) => join(folder, file)) : [];
      }),
    );
    const recorded = files.flatMap(
      (file) => (JSON.parse(readFileSync(file, 'utf8')) as { events: readonly LoggedEvent[] }).events,
    );
    expect([...new Set(recorded.map(({ type }) => type))].sort()).toEqual(Object.keys(CATALOGUE).sort());
  });

  it('lets nothing be appended that has no row', () => {
    const append = (type: string): string =>
      `import type { NewEvent } from '${join(__dirname, '../../../eventing/src/core/event-store')}';
       export const event: NewEvent = { type: '${type}', data: {} };`;
    expect(compileErrors(append('DeploymentCreated'), append('Unheard'))).toEqual([
      [],
      [expect.stringContaining(`Type '"Unheard"' is not assignable`)],
    ]);
  });
});

/** Errors of the compiler for each of these source files, with the options of the builds. */
function compileErrors(...sources: readonly string[]): string[][] {
  const root = join(__dirname, '../../../..');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
  const planted = new Map(sources.map((source, nth) => [join(__dirname, `planted-${nth}.ts`), source]));
  const { compilerOptions } = config as { compilerOptions: object };
  const options: ts.CompilerOptions = {
    ...ts.convertCompilerOptionsFromJson(compilerOptions, root).options,
    composite: false,
    noEmit: true,
    // Events name no type of Node, and reading these takes as long as all else.
    types: [],
    paths: { '@fairlead/*': [join(root, 'libs/*/src/index.ts')] },
  };
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.getSourceFile = (name, ...rest) => {
    const source = planted.get(name);
    return source === undefined
      ? disk.getSourceFile(name, ...rest)
      : ts.createSourceFile(name, source, ts.ScriptTarget.ES2023);
  };
  host.fileExists = (name) => planted.has(name) || disk.fileExists(name);
  host.readFile = (name) => planted.get(name) ?? disk.readFile(name);
  const program = ts.createProgram([...planted.keys()], options, host);
  return [...planted.keys()].map((file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}
