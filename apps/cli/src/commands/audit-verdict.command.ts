import type { Command } from 'commander';
import { does } from '../api/context';
import { deploymentId, revisionId } from '../api/lookups';
import { EXIT } from '../failure';
import { examples } from '../output/help';
import { clean, when } from '../output/text';
import { reaches } from '../table/group';

interface Repetition {
  readonly event_id: string;
  readonly looked_at: string;
  readonly method: string;
  readonly data: string;
  readonly recorded: { readonly outcome: string };
  readonly repeated: { readonly outcome: string } | null;
  readonly reason: string | null;
}

/** A value of a verdict, as JSON. */
type Values = ReadonlyMap<string, string>;

export function addAuditVerdict(group: Command): void {
  const verdict = group
    .command('verdict')
    .description('compute the verdict of the gates of a revision again, and compare it with the log')
    .argument('<deployment>', 'id or name')
    .argument('<revision>', 'its id');
  examples(verdict, 'audit verdict support-agent 0198c2a4-0000-7000-8000-000000000001');
  reaches(verdict, 'GET /v2/deployments/{deployment_id}/revisions/{revision_id}/verdict/repeat');
  does(verdict, async ({ api, out }, [name, revision]) => {
    const path = `/v2/deployments/${await deploymentId(api, name!)}/revisions/${revisionId(revision!)}/verdict/repeat`;
    const text = await api.read(path);
    const { event_id, looked_at, method, data, recorded, repeated, reason } = JSON.parse(text) as Repetition;
    const [before, after] = [valuesOf(recorded), repeated ? valuesOf(repeated) : undefined];
    const members = [...new Set([...before.keys(), ...(after?.keys() ?? [])])];
    const differing = after ? members.filter((member) => before.get(member) !== after.get(member)) : [];
    if (out.json) out.text(text);
    else {
      out.facts([
        ...([
          ['event', event_id],
          ['looked at', when(looked_at)],
          ['method', clean(method)],
        ] as [string, string][]),
        ['scores', data || undefined],
        ['outcome', out.paint('bold', recorded.outcome)],
        [
          'repeated',
          after ? `${members.length - differing.length} of ${members.length} values are identical` : undefined,
        ],
      ]);
      if (differing.length > 0) {
        out.line();
        out.table(
          ['MEMBER', 'IN THE LOG', 'COMPUTED'].map((title) => ({ title, flexible: true })),
          differing.map((member) => [
            clean(member),
            clean(before.get(member) ?? '-'),
            clean(after?.get(member) ?? '-'),
          ]),
        );
      }
    }
    if (!after) out.note(`It cannot be repeated: ${clean(reason ?? '')}`);
    return !after ? EXIT.unchecked : differing.length > 0 ? EXIT.failed : EXIT.ok;
  });
}

/** The values of a JSON value as text, by their paths, such as `gates[0].criteria[0].mean`. */
function valuesOf(value: unknown, path = '', found = new Map<string, string>()): Values {
  if (typeof value !== 'object' || value === null) found.set(path, JSON.stringify(value));
  else if (Array.isArray(value)) for (const [at, one] of value.entries()) valuesOf(one, `${path}[${at}]`, found);
  else for (const [name, one] of Object.entries(value)) valuesOf(one, path === '' ? name : `${path}.${name}`, found);
  return found;
}
