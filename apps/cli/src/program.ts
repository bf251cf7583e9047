import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { addApi } from './commands/api.command';
import { addAudit } from './commands/audit.commands';
import { addChanges } from './commands/changes.command';
import { addCompletion } from './commands/completion.command';
import { addConsole, browsers, views } from './commands/console.command';
import { datasets, examples } from './commands/datasets.commands';
import { addDemo } from './demo/demo.command';
import { addDeploy } from './deployments/deploy.command';
import { addDeploymentLogs } from './deployments/deployment-logs.command';
import { addOpen } from './deployments/deployment-open.command';
import { addDeployments } from './deployments/deployments.commands';
import { addExperiments } from './commands/experiments.commands';
import { EXIT, Failure, Refusal, Usage } from './failure';
import { addLogin } from './commands/login.commands';
import { addStatus } from './commands/status.commands';
import { addKeys, addWhoami } from './commands/keys.commands';
import { HELP_LAYOUT } from './output/help';
import { Output } from './output/output';
import { addSearch } from './commands/search.command';
import { addSecrets } from './deployments/secrets.commands';
import { addRevisions } from './deployments/revisions.commands';
import { workspaces } from './commands/workspaces.commands';
import { feedback } from './commands/feedback.commands';
import { integrations } from './commands/integrations.commands';
import { listeners } from './commands/listeners.commands';
import { monitors } from './commands/monitors.commands';
import { providers, tokens } from './commands/providers.commands';
import { links, runs, shared } from './commands/runs.commands';
import { parked, service } from './commands/service.commands';
import { webhooks } from './commands/webhooks.commands';
import { version } from './package';
import { addGroup } from './table/group';

const HELP = `
Examples:
  $ fairlead login https://fairlead.example.com
  $ fairlead status
  $ fairlead demo
  $ fairlead deploy agents/support --name support-agent
  $ fairlead deployments rollback support-agent --reason 'slow answers'
  $ fairlead experiments upload results.csv --dataset questions
  $ fairlead experiments compare model-a model-b --gate 'correct>=-0.02'

Exit codes:
  0  done
  1  failed: the service refused it, or a rollout or gate failed
  2  the command line, or a file that it names, is wrong
  3  it took longer than --timeout
  4  the key is missing, is not accepted, or lacks a scope
  5  not found
  6  no fault was found, but not everything could be checked

Environment: FAIRLEAD_URL, FAIRLEAD_KEY and FAIRLEAD_WORKSPACE stand for the
options of these names; NO_COLOR turns colours off.`;

/** The command line as a whole. */
export function program(): Command {
  const all = new Command('fairlead')
    .description('Deployments and experiments of a Fairlead service.')
    .version(version(), '-V, --version')
    .option('--url <address>', 'the service (default: http://127.0.0.1:4600)')
    .option('--key <key>', 'API key (default for a local service: the one that npm start keeps)')
    .option('--workspace <id|name>', 'for keys of an organisation')
    .option('--json', 'print the JSON of the API, and errors as JSON')
    .option('--jq <filter>', 'print what this filter of jq makes of the JSON')
    .option('--timeout <seconds>', 'how long to wait (default: 60 for an answer)', positive)
    .option('--no-color', 'no colours')
    .showHelpAfterError('Add --help for what there is.')
    .configureHelp(HELP_LAYOUT)
    .addHelpText('after', HELP);
  addLogin(all);
  addWhoami(all, 'whoami');
  addStatus(all);
  addDeploy(all);
  addDeployments(all);
  addRevisions(all);
  addSecrets(all);
  addDeploymentLogs(all);
  addOpen(all);
  addExperiments(all);
  for (const group of [datasets, examples, runs, feedback, shared, links]) addGroup(all, group);
  for (const group of [integrations, providers, tokens, monitors, webhooks, listeners]) addGroup(all, group);
  addSearch(all);
  addChanges(all);
  addAudit(all);
  addKeys(all);
  for (const group of [workspaces, browsers, views, parked, service]) addGroup(all, group);
  addConsole(all);
  addDemo(all);
  addApi(all);
  addCompletion(all);
  return all;
}

/** Runs a command line and sets the exit code of the process. Never rejects. */
export async function run(args: readonly string[]): Promise<void> {
  const all = program();
  const out = new Output({ json: args.includes('--json'), color: !args.includes('--no-color') });
  const said: string[] = [];
  forEach(all, (command) =>
    command.exitOverride().configureOutput({ writeErr: (text) => void said.push(text.trimEnd()) }),
  );
  try {
    if (args.length === 0) all.outputHelp();
    else if (args[0] === 'help') helpOn(all, args.slice(1));
    else await all.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(error, said, out);
  }
}

/** Shows the help of a command that is named by its words, such as `deployments patch`. @throws Usage */
function helpOn(all: Command, words: readonly string[]): void {
  let command = all;
  for (const word of words.filter((word) => !word.startsWith('-'))) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!next)
      throw new Usage(
        `There is no command ${[...words].join(' ')}: see fairlead help ${command === all ? '' : command.name()}`.trim(),
      );
    command = next;
  }
  command.outputHelp();
}

/** Tells the user of an error. Answers the exit code. */
function report(error: unknown, said: readonly string[], out: Output): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // A group without a command shows what there is.
    if (error.code === 'commander.help') {
      out.line(said.join('\n'));
      return EXIT.ok;
    }
    const message = said.join('\n').replace(/^error: /, '');
    if (out.json) out.note(JSON.stringify({ detail: message.split('\n')[0], exit_code: EXIT.usage }));
    else out.error(message);
    return EXIT.usage;
  }
  if (!(error instanceof Failure)) {
    out.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return EXIT.failed;
  }
  if (!out.json) out.error(error.message);
  else {
    const { status, detail } = error instanceof Refusal ? error : {};
    out.note(JSON.stringify({ detail: detail ?? error.message, status, exit_code: error.exitCode }));
  }
  return error.exitCode;
}

function forEach(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEach(child, visit);
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value < 1e6) return value;
  throw new InvalidArgumentError('It is a number of seconds.');
}
