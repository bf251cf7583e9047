// Makes the reference pages of docs/reference from the OpenAPI document of the service.

const NOTE =
  '<!-- Made by `node tools/reference/reference.mjs` from the schemas that the service validates with. Change those, not this page. -->';
const REF = '#/components/schemas/';

/** The pages by file name: one for each area of the API, and an index. */
export function apiPages(document) {
  const areas = document.tags.map(({ name, description }) => ({
    name,
    description,
    file: `${name.toLowerCase().replaceAll(' ', '-')}.md`,
    operations: operationsOf(document, name),
  }));
  const homes = homesOf(document, areas);
  const pages = areas.map((area) => [area.file, areaPage(document, area, homes)]);
  return Object.fromEntries([['README.md', indexPage(document, areas)], ...pages]);
}

function operationsOf({ paths }, area) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags?.includes(area))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );
}

/** The page that describes each schema: the first one whose routes use it. Schemas of errors are on the page of all. */
function homesOf(document, areas) {
  const homes = new Map();
  for (const { file, operations } of areas) {
    const used = reached(
      document,
      operations.map(({ requestBody, responses }) => [requestBody, responses]),
    );
    for (const name of used) if (!homes.has(name)) homes.set(name, file);
  }
  return homes;
}

/** Names of the schemas that are used, directly or by others. */
function reached(document, value) {
  const found = new Set();
  const waiting = namesIn(value);
  while (waiting.length > 0) {
    const name = waiting.shift();
    if (found.has(name)) continue;
    found.add(name);
    waiting.push(...namesIn(document.components.schemas[name]));
  }
  return [...found];
}

function namesIn(value) {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === '$ref' && one.startsWith(REF) ? [one.slice(REF.length)] : namesIn(one),
  );
}

function indexPage(document, areas) {
  const link = (name) => `[${name}](#${anchor(name)})`;
  const errors = Object.values(document.components.responses);
  const types = [
    ...new Set(
      reached(
        document,
        errors.map(({ content }) => content),
      ),
    ),
  ];
  return [
    NOTE,
    '# Reference',
    'For those who write a client or a script: every route with its parameters, bodies and answers, and every setting. These pages are made from the schemas that the service validates requests with, so that they say what it does. A running service shows the same at `/docs`, and as an OpenAPI 3.1 document at `/openapi.json`.',
    'What holds for every route is told once: [errors, paging, spellings, repeated requests](errors.md) and [keys](../guides/keys-and-tenants.md). Members that a page does not name are ignored in requests. In a request, `null` is the same as leaving the member out.',
    table(
      ['page', 'what it describes'],
      [
        ...areas.map(({ name, description, file }) => [`[${name}](${file})`, description]),
        ['[Settings](settings.md)', 'The environment variables of the service.'],
      ],
    ),
    '## Errors',
    'An error is a JSON object with the member `detail`, or an object as RFC 9457 defines it when the request has `Accept: application/problem+json`. [Errors and conventions](errors.md) says which of them to repeat.',
    table(
      ['status', 'answer', 'when'],
      Object.entries(document.paths)
        .flatMap(([, methods]) => Object.values(methods).flatMap(({ responses }) => Object.entries(responses)))
        .filter(([, { $ref }]) => $ref !== undefined)
        .map(([status, { $ref }]) => [status, ...answerCells(document, { $ref }, link)])
        .map(([status, , when]) => [status, status === '422' ? link('RequestError') : link('Error'), when])
        .filter(([status]) => !/^50\d/.test(status))
        .filter(([status], place, rows) => rows.findIndex(([other]) => other === status) === place)
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
    ...types.sort().flatMap((name) => typePart(document, name, link)),
    '',
  ].join('\n\n');
}

function areaPage(document, area, homes) {
  const link = (name) => (homes.get(name) === area.file ? `[${name}](#${anchor(name)})` : linkOut(name, homes));
  const types = [...homes].filter(([, file]) => file === area.file).map(([name]) => name);
  return [
    NOTE,
    `# Reference: ${area.name}`,
    `${area.description} See [all pages](README.md).`,
    ...area.operations.flatMap((operation) => operationPart(document, operation, link)),
    ...(types.length > 0 ? ['## Types', ...types.sort().flatMap((name) => typePart(document, name, link))] : []),
    '',
  ].join('\n\n');
}

function linkOut(name, homes) {
  return `[${name}](${homes.get(name)}#${anchor(name)})`;
}

function anchor(name) {
  return name.toLowerCase();
}

function operationPart(document, operation, link) {
  const { method, path, summary, description, parameters, requestBody, responses } = operation;
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    ...(parameters.length > 0 ? [parameterTable(document, parameters, link)] : []),
    ...(requestBody ? [`Body: ${contentText(requestBody.content, link)}.`, ...inline(requestBody.content, link)] : []),
    ...answersPart(document, responses, link),
    ...Object.values(responses).flatMap(({ content }) => inline(content, link)),
  ];
}

function parameterTable(document, parameters, link) {
  const rows = parameters.map((given) => {
    const parameter = given.$ref ? document.components.parameters[given.$ref.split('/').at(-1)] : given;
    const { name, in: place, required, schema, description } = parameter;
    return [`\`${name}\``, place, required ? 'yes' : '', typeText(schema, link), ...limitCells(schema), description];
  });
  return table(['parameter', 'in', 'required', 'type', 'limits', 'default', 'meaning'], rows);
}

/** A table of the answers that this route alone has, and the numbers of the errors that mean the same on every route. */
function answersPart(document, responses, link) {
  const [usual, own] = [[], []];
  for (const [status, response] of Object.entries(responses)) {
    const isUsual = response.$ref !== undefined && response.description === undefined;
    (isUsual ? usual : own).push([status, response]);
  }
  const rows = own.map(([status, response]) => [status, ...answerCells(document, response, link)]);
  const errors = usual.map(([status]) => status).join(', ');
  return [
    table(['status', 'answer', 'when'], rows),
    ...(errors === '' ? [] : [`Errors with their [usual meaning](README.md#errors): ${errors}.`]),
  ];
}

function answerCells(document, response, link) {
  const { $ref, description } = response;
  const { content, description: usual } = $ref ? document.components.responses[$ref.split('/').at(-1)] : response;
  const isError = content !== undefined && 'application/problem+json' in content;
  return [isError ? 'error' : content ? contentText(content, link) : 'no body', description ?? usual];
}

function contentText(content, link) {
  return Object.entries(content)
    .map(([type, { schema }]) => {
      const shape = schema && Object.keys(schema).length > 0 ? typeText(schema, link) : 'bytes';
      return type === 'application/json' ? shape : `\`${type}\` (${shape})`;
    })
    .join(' or ');
}

/** The members of a body that has no name of its own. */
function inline(content, link) {
  const { schema } = content?.['application/json'] ?? {};
  return schema?.properties ? [memberTable(schema, link)] : [];
}

function typePart({ components }, name, link) {
  const schema = components.schemas[name];
  return [`### ${name}`, schema.properties ? memberTable(schema, link) : `${typeText(schema, link)}.`];
}

/** Members, and those of objects in them that have no name of their own. */
function memberTable(schema, link, prefix = '') {
  return table(['member', 'required', 'type', 'limits', 'default', 'meaning'], memberRows(schema, link, prefix));
}

function memberRows({ properties, required = [] }, link, prefix) {
  return Object.entries(properties).flatMap(([name, member]) => {
    const needed = required.includes(name) ? 'yes' : '';
    const row = [
      `\`${prefix}${name}\``,
      needed,
      typeText(member, link),
      ...limitCells(member),
      member.description ?? '',
    ];
    return [row, ...nested(member).flatMap((inner) => memberRows(inner, link, `${prefix}${name}${inner.path}.`))];
  });
}

function nested(schema, path = '') {
  if (schema.properties) return [{ ...schema, path }];
  const choices = (schema.anyOf ?? []).flatMap((choice) => nested(choice, path));
  if (schema.items) return [...choices, ...nested(schema.items, `${path}[]`)];
  const { additionalProperties: any } = schema;
  return typeof any === 'object' ? [...choices, ...nested(any, `${path}.*`)] : choices;
}

/** The type of a value in words, with links to schemas that have a name. */
function typeText(schema, link) {
  if (schema.$ref) return link(schema.$ref.slice(REF.length));
  if (schema.anyOf) return schema.anyOf.map((choice) => typeText(choice, link)).join(' or ');
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {}, link)}`;
  if (schema.type === 'object') {
    if (schema.properties) return 'object';
    if (typeof schema.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length > 0) {
      return `object with values: ${typeText(schema.additionalProperties, link)}`;
    }
    return schema.maxProperties === 0 ? 'empty object' : 'object with any members';
  }
  if (schema.type === 'string') return { uuid: 'UUID', 'date-time': 'time (ISO 8601)' }[schema.format] ?? 'string';
  return schema.type ?? 'any JSON value';
}

function limitCells(schema) {
  return [limits(schema).join('; '), 'default' in schema ? `\`${JSON.stringify(schema.default)}\`` : ''];
}

function limits(schema) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, anyOf = [] } = schema;
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' elements'),
    ...(pattern === undefined ? [] : [`\`${pattern}\``]),
    ...new Set(anyOf.flatMap(limits)),
  ];
}

function range(least, most, unit) {
  if (least === undefined && most === undefined) return [];
  if (most === undefined) return [`at least ${least}${unit}`];
  return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
}

function table(head, rows) {
  const line = (cells) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
