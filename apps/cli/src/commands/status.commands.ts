import type { Command } from 'commander';
import type { Api } from '../api/api';
import { type Context, does } from '../api/context';
import type { ApiKey, Deployment, Page } from '../api/records';
import { showHealthOf } from '../deployments/deployment-health.command';
import { EXIT, Refusal } from '../failure';
import { showDeployments } from '../output/deployments.show';
import { examples } from '../output/help';
import { version } from '../package';
import { clean } from '../output/text';
import { reaches } from '../table/group';

const READY = '/health/ready';
const INFO = '/api/v1/info';
const CURRENT = '/api/v1/api-key/current';
const DEPLOYMENTS = '/v2/deployments';
const SHOWN = 20;

/** `status` and `version`: the service in a few lines, or one deployment. */
export function addStatus(all: Command): void {
  const status = all
    .command('status')
    .description('show whether the service works, the key in use and the deployments; or the health of one deployment')
    .argument('[deployment]', 'id or name');
  examples(status, 'status', 'status support-agent');
  reaches(status, `GET ${READY}`, `GET ${INFO}`, `GET ${CURRENT}`, `GET ${DEPLOYMENTS}`);
  does(status, async (context, [deployment]) =>
    deployment === undefined ? showService(context) : showHealthOf(context, deployment),
  );

  const command = all.command('version').description('print the versions of this program and of the service');
  examples(command, 'version');
  reaches(command, `GET ${INFO}`);
  does(command, async ({ api, out }) => {
    const { version: service } = await api.get<{ version: string }>(INFO);
    if (out.json) return out.text(JSON.stringify({ program: version(), service }));
    out.facts([
      ['program', version()],
      ['service', `${clean(service)}, ${api.connection.url}`],
    ]);
  });
}

async function showService(context: Context): Promise<number> {
  const { api, out } = context;
  const reasons = await unready(api);
  const { version: service } = await api.get<{ version: string }>(INFO);
  const key = await api.get<ApiKey>(CURRENT);
  const page = await api.get<Page<Deployment>>(DEPLOYMENTS, { limit: SHOWN });
  const { url } = api.connection;
  const ready = reasons === undefined;
  if (out.json) {
    out.text(
      JSON.stringify({ url, version: service, ready, reasons: reasons ?? [], key, deployments: page.resources }),
    );
  } else {
    out.facts([
      ['address', url],
      ['service', `${clean(service)}, ${ready ? out.paint('green', 'ready') : out.paint('red', 'not ready')}`],
      ...(reasons ?? []).map((reason) => ['', clean(reason)] as const),
      ['key', `${key.short_key}, ${key.scopes.join(', ')}`],
    ]);
    out.line();
    showDeployments(context, page.resources);
    if (page.resources.length === SHOWN) out.note(`The newest ${SHOWN}; "fairlead deployments list --all" shows all.`);
  }
  return ready ? EXIT.ok : EXIT.failed;
}

/** Why the service is not ready; undefined when it is. @throws Failure when it does not answer */
async function unready(api: Api): Promise<string[] | undefined> {
  try {
    await api.send({ method: 'GET', path: READY, once: true });
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 503) throw error;
    return error.message.split('\n');
  }
}
