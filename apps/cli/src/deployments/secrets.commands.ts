import { examples } from '../output/help';
import type { Command } from 'commander';
import { reasonHeader } from '../api/api';
import { type Context, does } from '../api/context';
import { show, showRolledOut } from '../api/deployment-answers';
import { deploymentId } from '../api/lookups';
import type { Deployment } from '../api/records';
import { nameOf, textOf } from '../body/body-file';
import { envFile } from '../body/env-file';
import { Usage } from '../failure';
import { clean } from '../output/text';
import { reaches } from '../table/group';

const ONE = 'GET /v2/deployments/{deployment_id}';

interface ChangeOptions {
  readonly file?: string;
  readonly reason?: string;
  readonly wait?: boolean;
}

type Secrets = Deployment['secrets'];

/** Environment variables with secret values: `reveal` of the deployments tells a value. */
export function addSecrets(all: Command): void {
  const group = all
    .command('secrets')
    .alias('secret')
    .description('environment variables of a deployment, kept secret');
  const list = group.command('list').alias('ls').description('show their names').argument('<deployment>', 'id or name');
  examples(list, 'secrets list support-agent');
  does(list, async (context, [name]) => {
    const { out } = context;
    const { secrets } = (await read(context, name!)).deployment;
    if (out.json) return out.text(JSON.stringify(secrets));
    for (const secret of secrets) out.line(clean(secret.name));
    if (secrets.length === 0) out.note(`${name} has no secrets.`);
  });

  const set = changing(group.command('set').description('add some or change their values, which makes a revision'))
    .argument('[secrets...]', 'NAME=value, visible to other users of this machine; a file is not')
    .option('-f, --file <file>', 'lines of NAME=value, as in .env; - reads standard input');
  examples(set, 'secrets set support-agent REGION=eu -f values.env --wait');
  does<ChangeOptions>(set, async (context, [name, ...given], options) => {
    const wanted = {
      ...(options.file !== undefined && envFile(textOf(options.file), nameOf(options.file))),
      ...assigned((given as never[]).flat()),
    };
    if (Object.keys(wanted).length === 0) throw new Usage('Give secrets as NAME=value, or a file with --file.');
    return change(context, name!, options, (secrets) => [
      ...secrets.filter(({ name }) => !Object.hasOwn(wanted, name)),
      ...Object.entries(wanted).map(([name, value]) => ({ name, value })),
    ]);
  });

  const unset = changing(group.command('unset').description('remove some, which makes a revision')).argument(
    '<secrets...>',
    'their names',
  );
  examples(unset, 'secrets unset support-agent REGION');
  does<ChangeOptions>(unset, async (context, [name, ...given], options) => {
    const names: string[] = (given as never[]).flat();
    return change(context, name!, options, (secrets) => {
      const missing = names.find((one) => !secrets.some(({ name }) => name === one));
      if (missing !== undefined) throw new Usage(`${name} has no secret ${missing}.`);
      return secrets.filter(({ name }) => !names.includes(name));
    });
  });
}

function changing(command: Command): Command {
  return reaches(command, ONE, 'PATCH /v2/deployments/{deployment_id}')
    .argument('<deployment>', 'id or name')
    .option('--reason <text>', 'why, for the history')
    .option('--wait', 'wait until the new revision is deployed');
}

async function read({ api }: Context, name: string) {
  const path = `/v2/deployments/${await deploymentId(api, name)}`;
  const { text, headers } = await api.send({ method: 'GET', path });
  return { path, deployment: JSON.parse(text) as Deployment, etag: headers.etag };
}

/** Sends all secrets as they are to be: the mask that answers have for a value keeps that value. */
async function change(
  context: Context,
  name: string,
  { reason, wait }: ChangeOptions,
  decide: (secrets: Secrets) => Secrets,
): Promise<number | void> {
  const { path, deployment, etag } = await read(context, name);
  const body = JSON.stringify({ secrets: decide(deployment.secrets) });
  const headers = { ...reasonHeader(reason), ...(etag && { 'if-match': etag }) };
  const answer = await context.api.command({ method: 'PATCH', path, body, headers });
  const { id, latest_revision_id: latest } = JSON.parse(answer.text) as Deployment;
  if (wait && latest !== null && latest !== deployment.latest_revision_id) return showRolledOut(context, id, latest);
  return show(context, answer);
}

function assigned(given: readonly string[]): Record<string, string> {
  const entries = given.map((text, index): [string, string] => {
    const end = text.indexOf('=');
    // What it is may be a value without its name, which is not for the log of a pipeline.
    if (end < 1) throw new Usage(`The ${index + 1}. secret has no name: write NAME=value.`);
    return [text.slice(0, end), text.slice(end + 1)];
  });
  const twice = entries.find(([name], index) => entries.findIndex(([other]) => other === name) < index);
  if (twice) throw new Usage(`The secret ${twice[0]} is given twice.`);
  return Object.fromEntries(entries);
}
