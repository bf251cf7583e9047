import { Link, useParams } from '@tanstack/react-router';
import { Changes, type MemberChange } from '../../../ui/changes';
import { merged, useAddress } from '../../../ui/address';
import { Pick } from '../../../ui/form';
import { whole } from '../../../ui/format';
import { List, Nothing, Section } from '../../../ui/list';
import { Problem, Skeleton, Text, Time } from '../../../ui/parts';
import { leafText, leaves } from '../../../ui/values/readable';
import css from '../experiments.module.css';
import { type Differing, type Example, useVersionDifference, useVersions, versionName } from './data';

/** The versions of a dataset, and what differs in two of them, which the address names. */
export function Versions({ dataset }: { dataset: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const { data: versions, error, refetch } = useVersions(w, dataset);
  const to = search.to ?? versions?.[0]?.as_of ?? 'latest';
  const from = search.from;
  const difference = useVersionDifference(w, dataset, from, to);
  if (error && !versions) return <Problem error={error} retry={() => void refetch()} />;
  if (!versions) return <Skeleton />;
  if (versions.length === 0) return <Nothing title="This dataset has no version yet: it has no examples." />;
  const options = (none: string) =>
    Object.fromEntries([['', none], ...versions.map((one) => [one.as_of, versionName(one)])]);
  const before = new Map(versions.map(({ as_of }, place) => [as_of, versions[place + 1]?.as_of]));
  return (
    <>
      <div className={css.tools} role="search">
        <Pick
          label="Earlier version"
          value={from ?? ''}
          onChange={(version) => change({ from: version || undefined })}
          options={options('Compare a version …')}
        />
        <Pick
          label="Later version"
          value={search.to ?? ''}
          onChange={(version) => change({ to: version || undefined })}
          options={options('with the newest')}
        />
      </div>
      {from !== undefined && difference.error && <Problem error={difference.error} />}
      {from !== undefined && difference.data && from !== to && (
        <Section
          title={`${whole(difference.data.added)} added, ${whole(difference.data.modified)} changed, ${whole(difference.data.removed)} removed`}
        >
          <ol className={css.differing} aria-label="Examples that differ">
            {difference.data.shown.map((one) => (
              <li key={one.id}>
                <h3>
                  <Link to="/o/$w/datasets/$dataset/e/$example" params={{ w, dataset, example: one.id }}>
                    <code>{one.id.slice(0, 8)}</code>
                  </Link>{' '}
                  {one.before ? (one.after ? 'changed' : 'removed') : 'added'}
                </h3>
                <Changes changes={changesOf(one)} none="It was written again without a change." />
              </li>
            ))}
          </ol>
          {difference.data.others > 0 && <p className={css.hint}>{whole(difference.data.others)} others differ too.</p>}
        </Section>
      )}
      <List
        label="Versions"
        items={versions}
        keyOf={({ as_of }) => as_of}
        columns={[
          {
            title: 'Version',
            kind: 'name',
            cell: ({ as_of }) => (
              <Link to="." search={merged({ tab: 'examples', version: as_of, from: undefined, to: undefined })}>
                <Time at={as_of} />
              </Link>
            ),
          },
          { title: 'Tags', cell: ({ tags }) => <Text>{(tags ?? []).join(', ')}</Text> },
          {
            title: 'Difference',
            cell: ({ as_of }) => {
              const earlier = before.get(as_of);
              return earlier === undefined ? (
                ''
              ) : (
                <Link to="." search={merged({ from: earlier, to: as_of })}>
                  What changed
                </Link>
              );
            },
          },
        ]}
      />
    </>
  );
}

/** The members of an example that differ, by their paths. */
function changesOf({ before, after }: Differing): MemberChange[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((member) => old.get(member) !== now.get(member))
    .map((member) => ({ member, before: old.get(member), after: now.get(member) }));
}

function membersOf(example: Example | undefined): Map<string, string> {
  if (!example) return new Map();
  const { inputs: input, outputs: reference, metadata } = example;
  return new Map(leaves({ input, reference, metadata }).map(({ path, value }) => [path, leafText(value)]));
}
