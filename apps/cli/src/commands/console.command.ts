import { examples } from '../output/help';
import type { Command } from 'commander';
import type { Api } from '../api/api';
import { does } from '../api/context';
import { type Group, reaches } from '../table/group';

const CODES = '/v1/console/codes';
const VIEW = '/v1/views/{view_id}';

interface Link {
  readonly path: string;
  readonly expires_at: string;
}

/** Browsers that are signed in to the web console. */
export const browsers: Group = {
  name: 'browsers',
  about: 'browsers that are signed in to the web console',
  lines: {
    list: {
      route: 'GET /v1/console/sessions',
      columns: ['id', 'address', 'created_at', 'used_at', 'expires_at'],
    },
    remove: {
      route: 'DELETE /v1/console/sessions/{console_session_id}',
      example: '0198c1f0-0000-7000-8000-000000000001',
      about: 'sign a browser out',
    },
  },
};

/** Views of lists that the people of a workspace share. */
export const views: Group = {
  name: 'views',
  alias: 'view',
  about: 'filters, order and columns of lists in the web console, kept under a name',
  lines: {
    list: { route: 'GET /v1/views', columns: ['name', 'page', 'parameters', 'updated_at', 'id'] },
    get: { route: `GET ${VIEW}`, example: 'nightly-failures' },
    create: {
      route: 'POST /v1/views',
      example: `--page traces --name nightly-failures --parameters '{"status": "error", "tag": "night"}'`,
    },
    patch: { route: `PATCH ${VIEW}`, example: `nightly-failures --parameters '{"status": "error"}'` },
    delete: { route: `DELETE ${VIEW}`, example: 'nightly-failures' },
  },
};

export function addConsole(all: Command): void {
  const command = all
    .command('console')
    .description('print a link that signs a browser in to the web console, once, within ten minutes');
  examples(command, 'console');
  reaches(command, 'POST /v1/console/codes');
  does(command, async ({ api, out }) => {
    const { text } = await api.send({ method: 'POST', path: CODES });
    if (out.json) out.text(text);
    else out.line(linkIn(api, text));
  });
}

/** A link that signs a browser in to the web console, once, within ten minutes. */
export async function consoleLink(api: Api): Promise<string> {
  return linkIn(api, (await api.send({ method: 'POST', path: CODES })).text);
}

function linkIn(api: Api, text: string): string {
  return `${api.connection.url}${(JSON.parse(text) as Link).path}`;
}
