import { Link, useParams } from '@tanstack/react-router';
import { merged } from '../../ui/address';
import { Changes } from '../../ui/changes';
import { middle } from '../../ui/format';
import { Copy, Text } from '../../ui/parts';
import css from './audit.module.css';
import { type Entry, type Named, useRequestChanges } from './data';
import { thingOf, type Told, verbOf } from './sentences';

/** All entries of a line, and what they changed. */
export function Details({ told, names }: { told: Told; names: ReadonlyMap<string, Named> }) {
  return (
    <>
      {told.entries.toReversed().map((entry) => (
        <Detail key={entry.metadata.uid} entry={entry} names={names} isOne={told.entries.length === 1} />
      ))}
    </>
  );
}

/** The thing of an entry, with a link where it has a page. */
export function What({ entry, names }: { entry: Entry; names: ReadonlyMap<string, Named> }) {
  const { w } = useParams({ from: '/o/$w' });
  const [first, ...others] = entry.resources;
  if (!first) {
    return (
      <code className={css.path} title={entry.http_request.url.path}>
        <Text>{`${entry.http_request.http_method} ${entry.http_request.url.path}`.trim() || '–'}</Text>
      </code>
    );
  }
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  if (first.type === 'deployment') {
    return (
      <Link
        className={css.link}
        to="/o/$w/host/deployments/$deployment"
        params={{ w, deployment: first.uid }}
        title={first.uid}
      >
        <Text>{middle(names.get(first.uid)?.name ?? `deployment ${first.uid.slice(0, 8)}`, 40) + more}</Text>
      </Link>
    );
  }
  const name = names.get(first.uid)?.name;
  if (name === undefined) return <span title={first.uid}>{thingOf(first) + more}</span>;
  const shown = <Text>{middle(name, 40) + more}</Text>;
  return first.type === 'dataset' ? (
    <Link className={css.link} to="/o/$w/datasets/$dataset" params={{ w, dataset: first.uid }} title={first.uid}>
      {shown}
    </Link>
  ) : (
    <Link className={css.link} to="/o/$w/projects/p/$session" params={{ w, session: first.uid }} title={first.uid}>
      {shown}
    </Link>
  );
}

interface DetailProps {
  readonly entry: Entry;
  readonly names: ReadonlyMap<string, Named>;
  readonly isOne: boolean;
}

function Detail({ entry, names, isOne }: DetailProps) {
  const { w } = useParams({ from: '/o/$w' });
  const { uid, http_method, url } = entry.http_request;
  const deployment = entry.resources.find(({ type }) => type === 'deployment');
  const changes = useRequestChanges(deployment?.uid, uid);
  const json = JSON.stringify(entry, null, 2);
  return (
    <div className={css.detail}>
      <p className={css.facts}>
        <span className={css.time}>{clock(entry.time)} UTC</span>
        {!isOne && (
          <span>
            {verbOf(entry)} <What entry={entry} names={names} />
          </span>
        )}
        {http_method !== '' && (
          <code>
            <Text>{`${http_method} ${url.path}`}</Text>
          </code>
        )}
        {uid !== null && (
          <Link to="." search={merged({ request_id: uid })}>
            All of this request
          </Link>
        )}
        {deployment && (
          <Link
            to="/o/$w/host/deployments/$deployment"
            params={{ w, deployment: deployment.uid }}
            search={{ tab: 'history' }}
          >
            History of the deployment
          </Link>
        )}
        <Copy kind="quiet" text={json}>
          Copy JSON
        </Copy>
      </p>
      {changes && <Changes changes={changes} none="Nothing that has a value of its own." />}
      <details>
        <summary>As OCSF</summary>
        <pre tabIndex={0}>
          <Text>{json}</Text>
        </pre>
      </details>
    </div>
  );
}

function clock(time: number): string {
  return new Date(time).toISOString().slice(0, 23).replace('T', ' ');
}
