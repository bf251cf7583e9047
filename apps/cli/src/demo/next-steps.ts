import { BASELINE, NEW_PROMPT, SMALL_MODEL, WEB_SEARCH, WORSE_TOPIC } from './agents';
import type { Made } from './look';
import { DEPLOYMENT } from './mark';

/** Something to try with the demo: in a terminal, and in the console. */
interface Task {
  readonly title: string;
  readonly commands: readonly string[];
  /** Words of the link in the console, and where it leads. */
  readonly link: string;
  readonly page: (made: Made) => { readonly path: string; readonly search?: Readonly<Record<string, string>> };
  /** True for what needs the deployment. */
  readonly deploys?: boolean;
}

const comparison = (
  { dataset, experiments }: Made,
  names: readonly string[],
  more: Readonly<Record<string, string>> = {},
) => {
  const search = { selectedSessions: names.map((name) => experiments[name]!).join(','), ...more };
  return { path: `/datasets/${dataset}/compare`, search };
};
const compare = `fairlead experiments compare ${BASELINE.name} ${NEW_PROMPT.name}`;

export const TASKS: readonly Task[] = [
  {
    title: 'Is the new prompt better? Compare two experiments:',
    commands: [compare],
    link: 'Compare the new prompt with the baseline',
    page: (made) => comparison(made, [BASELINE.name, NEW_PROMPT.name]),
  },
  {
    title: 'It is worse in one topic. Look at its answers and at the judge’s comments:',
    commands: [`${compare} \\`, `  --only worse:correct --find '${WORSE_TOPIC}'`],
    link: `Look at “${WORSE_TOPIC}”, where it is worse`,
    page: (made) => comparison(made, [BASELINE.name, NEW_PROMPT.name], { q: WORSE_TOPIC }),
  },
  {
    title: 'What does a cheaper model cost in answers, and what do errors do?',
    commands: [`fairlead experiments compare ${BASELINE.name} ${SMALL_MODEL.name} ${WEB_SEARCH.name}`],
    link: 'Compare all four: a cheaper model, errors and repetitions',
    page: (made) => comparison(made, Object.keys(made.experiments)),
  },
  {
    title: 'Which conversation failed, and in which step?',
    commands: [`fairlead runs traces ${DEPLOYMENT} --status error`],
    link: 'Open a trace that failed',
    page: ({ project }) => ({ path: `/projects/p/${project}`, search: { status: 'error' } }),
  },
  {
    title: 'What was deployed, and why was it rolled back?',
    commands: [`fairlead deployments history ${DEPLOYMENT}`],
    link: 'Read why a version was rolled back',
    page: ({ deployment }) => ({ path: `/host/deployments/${deployment}`, search: { tab: 'history' } }),
    deploys: true,
  },
  {
    title: 'Roll back yourself: it shows its plan first.',
    commands: [`fairlead deployments rollback ${DEPLOYMENT} --plan`],
    link: 'Roll back to another version',
    page: ({ deployment }) => ({ path: `/host/deployments/${deployment}`, search: { tab: 'revisions' } }),
    deploys: true,
  },
];
