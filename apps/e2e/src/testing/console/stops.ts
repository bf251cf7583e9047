import type { Page } from 'playwright-core';
import type { HostileThings } from './hostile';
import { appears } from './console-walk';
import { THREAD } from './traces';

/** A page of the console, and what is opened on it, one after the other. */
export interface Stop {
  readonly path: (things: HostileThings) => string;
  /** Text of its content when it is there. */
  readonly shows: string | RegExp;
  readonly steps?: Readonly<Record<string, Step>>;
  /** The secret that stands in the address of the page. */
  readonly token?: string;
}

interface Step {
  readonly open: (page: Page, things: HostileThings) => Promise<unknown>;
  /** Secrets that are seen here, because somebody has asked for them or types them, as the detector tells of them. */
  readonly seen?: readonly string[];
}

const dialog = (page: Page) => page.getByRole('dialog');
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();
/** Closes the dialog, and waits until nothing of it is left. */
async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** Opens a dialog with a button. */
const opens = (name: string | RegExp): Step => ({
  open: async (page) => {
    await button(page, name).click();
    await appears(dialog(page));
  },
});
const clicks = (name: string | RegExp, then: string | RegExp, role: 'button' | 'link' = 'button'): Step => ({
  open: async (page) => {
    await page.getByRole(role, { name }).first().click();
    await appears(page.getByText(then));
  },
});
/** Closes the dialog of the step before. */
const closes: Step = { open: closeDialog };
/** Closes the dialog of the step before, in which something was typed. */
const discards: Step = {
  open: async (page) => {
    await page.keyboard.press('Escape');
    await button(page, 'Discard it').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
  },
};

const tab = (name: string) => (things: HostileThings) => `host/deployments/${things.deployment}?tab=${name}`;
const compared = ({ dataset, experiments }: HostileThings) =>
  `datasets/${dataset}/compare?selectedSessions=${experiments.join()}`;

/** The canaries that are typed on the way, by their names: the detector knows them before they are typed. */
export const TYPED = {
  host: 'typed token of a code host',
  client: 'typed secret of an OAuth client',
  variable: 'typed secret of a deployment',
} as const;

/** Every page of a workspace with all that it opens. `typed` are the texts of the canaries above. */
export function stops(typed: Readonly<Record<keyof typeof TYPED, string>>): Record<string, Stop> {
  return {
    experiments: {
      path: () => 'experiments',
      shows: /3 experiments in 1 dataset/,
      steps: {
        columns: opens('Columns …'),
        'columns closed': closes,
        ticked: {
          open: async (page) => {
            for (const box of await page.getByRole('checkbox').all()) await box.check();
            await appears(button(page, 'Compare 3'));
          },
        },
        'of one model': clicks(/^model 1/, 'Drop this filter', 'link'),
        'go to': {
          open: async (page) => {
            await button(page, 'Go to …').click();
            await page.getByRole('combobox', { name: 'Name' }).fill('deployment');
            await appears(page.getByRole('option', { name: /deployment <img/ }));
          },
        },
        closed: closes,
        shortcuts: opens('Keyboard shortcuts'),
      },
    },
    'experiments that no filter passes': { path: () => 'experiments?q=in+none', shows: 'No experiment passes' },
    datasets: { path: () => 'datasets', shows: /questions <img/ },
    dataset: { path: ({ dataset }) => `datasets/${dataset}`, shows: /first <img/ },
    examples: {
      path: ({ dataset }) => `datasets/${dataset}?tab=examples`,
      shows: /1 <img/,
      steps: { views: opens('Views …') },
    },
    versions: { path: ({ dataset }) => `datasets/${dataset}?tab=versions`, shows: 'Difference' },
    directions: { path: ({ dataset }) => `datasets/${dataset}?tab=directions`, shows: /^cost <img/ },
    comparison: {
      path: compared,
      shows: /3 experiments · 6 rows/,
      steps: {
        row: {
          open: async (page) => {
            await button(page, /^Open row 1/).click();
            await appears(page.getByRole('complementary', { name: 'Row' }).getByText('Metadata'));
          },
        },
        folded: clicks('Fold statistics', 'Show statistics'),
        share: opens('Share …'),
        closed: closes,
        'what changed': clicks('What changed', 'metadata.model'),
        gate: clicks('Gate', 'It fails on a score that is clearly worse'),
      },
    },
    'comparison of no rows': { path: (things) => `${compared(things)}&q=in+none`, shows: 'No row passes this filter' },
    'one experiment': {
      path: ({ dataset, experiments }) => `datasets/${dataset}/compare?selectedSessions=${experiments[1]}`,
      shows: /6 rows/,
    },
    example: { path: ({ dataset, example }) => `datasets/${dataset}/e/${example}`, shows: 'Compare all 3' },
    project: { path: ({ project }) => `projects/p/${project}`, shows: '1 run was refused' },
    projects: {
      path: () => 'projects?since=90d',
      shows: /traced <img/,
      steps: { columns: opens('Columns …') },
    },
    traces: {
      path: ({ traced }) => `projects/p/${traced}`,
      shows: /^<img/,
      steps: {
        'over time': { open: (page) => page.getByText('As table').click() },
        'all filters': {
          open: async (page) => {
            await page.getByText('As table').click();
            await page.getByText('More filters').click();
          },
        },
      },
    },
    trace: {
      path: ({ traced, trace }) => `projects/p/${traced}/r/${trace}`,
      shows: '7 runs',
      steps: {
        feedback: opens('Add feedback …'),
        closed: closes,
        example: opens('Add to dataset …'),
        'closed again': closes,
      },
    },
    thread: {
      path: ({ traced }) => `projects/p/${traced}/t/${encodeURIComponent(THREAD)}`,
      shows: 'Its runs, the newest first',
    },
    run: { path: ({ experiments, run }) => `projects/p/${experiments[0]}/r/${run}`, shows: 'Output' },
    deployments: {
      path: () => 'host/deployments',
      shows: /deployment <img/,
      steps: {
        'all filters': { open: (page) => page.getByText('More filters').click() },
        deploy: opens('Deploy a folder …'),
      },
    },
    'deployments that no filter passes': {
      path: () => 'host/deployments?name_contains=in+none',
      shows: 'No deployment passes',
    },
    deployment: {
      path: tab('overview'),
      shows: 'Version',
      steps: {
        'its change': {
          open: async (page) => {
            await button(page, 'Change …').click();
            await dialog(page).getByText('Everything as JSON').click();
          },
        },
        'its change with a secret': {
          open: async (page) => {
            await dialog(page).getByLabel('New value of OTHER').fill(typed.variable);
          },
          seen: [`${TYPED.variable} in fields`],
        },
        'plan of its change': {
          open: async (page) => {
            await button(page, 'Show the plan').click();
            await appears(dialog(page).getByText('another value'));
          },
          seen: [`${TYPED.variable} in the body of PATCH /v2/deployments/DEPLOYMENT`],
        },
        closed: closes,
      },
    },
    'an earlier version': {
      path: (things) => `${tab('overview')(things)}&version=1`,
      shows: 'What changed since',
    },
    'two versions': { path: (things) => `${tab('overview')(things)}&version=2&to=9`, shows: 'What differs in version' },
    revisions: {
      path: tab('revisions'),
      shows: 'v4',
      steps: {
        difference: {
          open: async (page) => {
            await page.getByRole('link', { name: 'Diff of v2' }).click();
            await appears(page.getByText('What v2 changed'));
          },
        },
        bisect: {
          open: async (page) => {
            await button(page, /^Bisect/).click();
            await page.getByLabel('Known good').selectOption('v1');
            await appears(page.getByText('steps left').or(page.getByText('1 step left')));
          },
        },
        'roll back': {
          open: async (page) => {
            await button(page, /^Roll back to v2$/).click();
            await appears(dialog(page).getByText('Makes a revision'));
            await dialog(page).getByText('As a command').click();
          },
        },
      },
    },
    'a rollout under way': {
      path: ({ slow }) => `host/deployments/${slow}?tab=revisions`,
      shows: 'v1',
      steps: { interrupt: opens('Interrupt') },
    },
    history: {
      path: tab('history'),
      shows: /\d+ events/,
      steps: {
        entry: {
          open: async (page) => {
            await page.getByRole('region', { name: 'History' }).getByRole('link').first().click();
            await appears(page.locator('a[aria-expanded=true]'));
          },
        },
        'every event': {
          open: async (page) => {
            await page.getByLabel('Fold').selectOption('full');
            await page.waitForURL('**fold=full**');
          },
        },
      },
    },
    secrets: {
      path: tab('secrets'),
      shows: 'sealed',
      steps: {
        'a reason': opens('Reveal TOKEN'),
        'its value': {
          open: async (page) => {
            await dialog(page).getByLabel('Reason').fill('to look at it');
            await dialog(page).getByRole('button', { name: 'Reveal', exact: true }).click();
            await appears(dialog(page).getByText('This closes by itself'));
          },
          seen: [
            'secret of a deployment in document',
            'secret of a deployment in the answer to POST /v2/deployments/DEPLOYMENT/secrets/TOKEN/reveal',
          ],
        },
        closed: closes,
      },
    },
    logs: {
      path: tab('logs'),
      shows: '[redacted]',
      steps: { wrapped: { open: (page) => button(page, 'Wrap').click() } },
    },
    settings: { path: tab('settings'), shows: 'Identifier', steps: { delete: opens(/^Delete deployment/) } },
    'code hosts': {
      path: () => 'integrations',
      shows: /code host <img/,
      steps: {
        repositories: clicks(/^code host <img/, 'team/agent', 'link'),
        deploy: opens('Deploy this: agent'),
        closed: closes,
        verdicts: opens('Verdicts for agent'),
        'verdicts closed': closes,
        add: {
          open: async (page) => {
            await button(page, 'Add a code host …').click();
            await dialog(page).getByLabel('Name').fill('typed');
            await dialog(page).getByLabel('Address').fill('no address');
            await dialog(page).getByLabel('Access token').fill(typed.host);
          },
          seen: [`${TYPED.host} in fields`],
        },
        refused: {
          open: async (page) => {
            await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
            await appears(dialog(page).getByRole('alert'));
          },
          seen: [`${TYPED.host} in fields`, `${TYPED.host} in the body of POST /v1/integrations`],
        },
        'closed again': discards,
        remove: opens(/^Remove code host/),
      },
    },
    providers: {
      path: () => 'providers',
      shows: /provider <img/,
      steps: {
        add: {
          open: async (page) => {
            await button(page, 'Add a provider …').click();
            await dialog(page).getByLabel('Client secret').fill(typed.client);
          },
          seen: [`${TYPED.client} in fields`],
        },
        closed: discards,
        remove: opens(/^Remove provider/),
      },
    },
    listeners: {
      path: () => 'listeners',
      shows: /cluster <img/,
      steps: { add: opens('Add a listener …'), closed: closes, remove: opens(/^Remove cluster/) },
    },
    webhooks: { path: () => 'webhooks', shows: /webhook <img/, steps: { add: opens('Add a webhook …') } },
    monitors: {
      path: () => 'monitors',
      shows: /monitor <img/,
      steps: {
        add: opens('Add a monitor …'),
        closed: closes,
        change: opens(/^Change monitor/),
        'closed again': closes,
        remove: opens(/^Remove monitor/),
      },
    },
    webhook: {
      path: ({ webhook }) => `webhooks/${webhook}`,
      shows: 'webhook.test',
      steps: { delivery: clicks('webhook.test', 'Attempt 1', 'link'), remove: opens('Remove …') },
    },
    audit: {
      path: () => 'audit',
      shows: 'deleted',
      steps: {
        entry: {
          open: async (page) => {
            await page.getByRole('link', { name: 'Entry: Delete deployment' }).first().click();
            await page.getByText('As OCSF').click();
          },
        },
      },
    },
    'audit log that no filter passes': { path: () => 'audit?operations=none', shows: 'No entry passes' },
    verify: {
      path: () => 'audit/verify',
      shows: 'Keys, keys.json',
      steps: {
        wrong: {
          open: async (page) => {
            const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('<b>no JSON</b>') });
            await page.getByLabel('Keys, keys.json').setInputFiles(file('<img src=x>.json'));
            await page.getByLabel('Export, a .jsonl file').setInputFiles(file('history.jsonl'));
            await page.getByRole('button', { name: 'Verify' }).click();
            await appears(page.getByText('It does not hold'));
          },
        },
      },
    },
    keys: {
      path: () => 'keys',
      shows: /key that reads <img/,
      steps: { create: opens('Create a key …'), closed: closes, revoke: opens(/^Revoke key that reads/) },
    },
    health: { path: () => 'health', shows: 'What this workspace uses' },
    'no such page': { path: () => 'nothing', shows: 'There is no such page' },
  };
}

/** Pages that anybody can see who is not signed in. */
export const OPEN_STOPS: Readonly<Record<string, Stop>> = {
  'sign in': { path: () => '/login', shows: 'Sign in to Fairlead' },
  'a page of a workspace': { path: () => '/o/-/host/deployments', shows: 'Sign in to Fairlead' },
  'what is not offered': { path: () => '/hub', shows: 'This is not offered here' },
  'shared dataset': {
    path: ({ datasetToken }) => `/public/${datasetToken}/d`,
    shows: /first <img/,
    token: 'token of a shared dataset',
  },
  'shared examples': {
    path: ({ datasetToken }) => `/public/${datasetToken}/d?tab=examples`,
    shows: /1 <img/,
    token: 'token of a shared dataset',
  },
  'shared run': {
    path: ({ runToken }) => `/public/${runToken}/r`,
    shows: 'Output',
    token: 'token of a shared run',
  },
  'shared comparison': {
    path: ({ linkToken }) => `/public/${linkToken}/compare`,
    shows: /3 experiments · 6 rows/,
    token: 'token of a link',
  },
  'nothing that is shared': { path: ({ dataset }) => `/public/${dataset}/d`, shows: 'not found' },
};
