import { examples } from '../output/help';
import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import type { Api } from '../api/api';
import { does } from '../api/context';
import { consoleLink } from '../commands/console.command';
import { findDeployment } from '../api/lookups';
import type { Deployment } from '../api/records';
import { Failure } from '../failure';
import { reaches } from '../table/group';
import { clean } from '../output/text';

/** Commands that open an address with the user's browser, by the name of the platform. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const WEB = /^https?:\/\//;

export function addOpen(group: Command): void {
  const open = group
    .command('open')
    .description(
      'print the address of a deployment, or of the web console, and open it in a browser when used in a terminal',
    )
    .argument('[deployment]', 'id or name (default: the web console, signed in)')
    .option('--print', 'print it only')
    .option('--link', "print a link to its pages, which works once, in a browser on the server's machine");
  const words = group.parent ? `${group.name()} open` : 'open';
  examples(open, `${words} support-agent`, `${words} support-agent --link`);
  reaches(open, 'GET /v2/deployments/{deployment_id}', 'POST /v1/console/codes');
  does<{ print?: boolean; link?: boolean }>(open, async ({ api, out }, [name], { print, link }) => {
    if (name === undefined) {
      const url = await consoleLink(api);
      if (out.json) out.text(JSON.stringify({ url }));
      else out.line(url);
      if (!print && !out.json && process.stdout.isTTY) openInBrowser(url);
      return;
    }
    const deployment = await findDeployment(api, name);
    if (link) return out.line(clean(await pagesOf(api, deployment)));
    const address = addressOf(deployment);
    if (address === undefined) throw new Failure(`${name} has no address: nothing is run, and custom_url is not set.`);
    if (out.json) out.text(JSON.stringify({ url: address }));
    else out.line(address);
    if (print || out.json || !process.stdout.isTTY) return;
    openInBrowser(await pagesOf(api, deployment).catch(() => address));
  });
}

/** Opens an address with the user's browser; a machine without one has printed it at least. */
function openInBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
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
