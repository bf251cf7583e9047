import { examples } from '../output/help';
import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import type { Api } from '../api/api';
import { does } from '../api/context';
import { findDeployment } from '../api/lookups';
import type { Deployment } from '../api/records';
import { Failure } from '../failure';
import { reaches } from '../table/group';
import { clean } from '../output/text';

/** What opens an address with the user's browser, by the name of the platform. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const WEB = /^https?:\/\//;

export function addOpen(group: Command): void {
  const open = group
    .command('open')
    .description('print the address of a deployment, and open it in a browser when used in a terminal')
    .argument('<deployment>', 'id or name')
    .option('--print', 'print it only')
    .option('--link', "print a link to its pages, which works once, in a browser on the server's machine");
  examples(open, 'deployments open support-agent', 'deployments open support-agent --link');
  reaches(open, 'GET /v2/deployments/{deployment_id}');
  does<{ print?: boolean; link?: boolean }>(open, async ({ api, out }, [name], { print, link }) => {
    const deployment = await findDeployment(api, name!);
    if (link) return out.line(clean(await pagesOf(api, deployment)));
    const address = addressOf(deployment);
    if (address === undefined) throw new Failure(`${name} has no address: nothing is run, and custom_url is not set.`);
    if (out.json) out.text(JSON.stringify({ url: address }));
    else out.line(address);
    if (print || out.json || !process.stdout.isTTY) return;
    const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    // A machine without a browser has printed it at least.
    const page = await pagesOf(api, deployment).catch(() => address);
    spawn(program, [...args, page], { stdio: 'ignore', detached: true })
      .on('error', () => undefined)
      .unref();
  });
}

/** A link to the pages of a program on the server's machine, whose address takes requests with a key only. */
async function pagesOf(api: Api, { id }: Deployment): Promise<string> {
  const { text } = await api.send({ method: 'POST', path: `/v2/deployments/${id}/browser-links`, body: '{}' });
  const { url } = JSON.parse(text) as { url: string };
  // What opens it starts programs of this machine for other addresses.
  if (!WEB.test(url)) throw new Failure('The service answered with a link that is no web address.');
  return url;
}

/** The address at which users reach a deployment; undefined when it has none that a browser can open. */
export function addressOf({ source_config: { custom_url } }: Deployment): string | undefined {
  return typeof custom_url === 'string' && WEB.test(custom_url) ? clean(custom_url) : undefined;
}
