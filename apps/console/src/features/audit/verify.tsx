import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../../api/session';
import { Drop, Drops } from '../../ui/drop';
import { Form, TextField } from '../../ui/form';
import { Button, Page, Text, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './audit.module.css';
import { keptFrom, keysOf, MOST_BYTES, verifyExport } from './verify-history';

type Found = Awaited<ReturnType<typeof verifyExport>>;
type Outcome = { readonly problem: string } | { readonly verified: Found; isKept: boolean };

const MEGABYTE = 1024 * 1024;

/** Holds an export against the keys that one has kept, in this browser: nothing is sent. */
export function VerifyPage() {
  useTitle('Verify an export');
  const { w } = useParams({ from: '/o/$w' });
  const [exported, setExported] = useState<File>();
  const [keys, setKeys] = useState<File>();
  const [earlier, setEarlier] = useState<File>();
  const [head, setHead] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const [share, setShare] = useState<number>();
  const session = useSession().data;
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const verify = async () => {
    const { signal } = (running.current = new AbortController());
    setShare(0);
    setOutcome(undefined);
    try {
      const kept = await keptFrom(head, earlier);
      const verified = await verifyExport(exported!, {
        keys: keysOf(await keys!.text()),
        kept,
        workspace: w === '-' ? session?.workspace_id : w,
        onRead: (bytes) => setShare(bytes / exported!.size),
        signal,
      });
      setOutcome({ verified, isKept: kept.head !== undefined || kept.seals !== undefined });
    } catch (error) {
      if (!signal.aborted) setOutcome({ problem: (error as Error).message });
    } finally {
      if (!signal.aborted) setShare(undefined);
    }
  };
  const stop = () => {
    running.current?.abort();
    setShare(undefined);
  };
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/audit" params={{ w }} className={css.crumb}>
            Audit log
          </Link>{' '}
          <span className={css.quiet}>/</span> <span>Verify an export</span>
        </>
      }
    >
      <p className={css.lead}>
        An export of the workspace, or of one deployment, ends with a signature. This page checks the chain of each
        stream, the seals over its events and the signatures with what the browser brings: no file leaves it, and the
        service is not asked. <code>fairlead audit verify</code> does the same, also for more than{' '}
        {MOST_BYTES / MEGABYTE} MB.
      </p>
      <div className={css.narrow}>
        <Form
          action="Verify"
          unsaved={false}
          busy={share !== undefined}
          disabled={!exported || !keys}
          onSubmit={() => void verify()}
        >
          <Drops>
            <Drop label="Export, a .jsonl file" onFiles={([file]) => setExported(file)}>
              {exported ? (
                <Chosen file={exported} />
              ) : (
                '“Export, signed” of the audit log writes that of the workspace, and of a deployment its history.'
              )}
            </Drop>
            <Drop label="Keys, keys.json" onFiles={([file]) => setKeys(file)}>
              {keys ? (
                <Chosen file={keys} />
              ) : (
                <span className={css.quiet}>
                  As <a href="/v1/audit/keys">the service</a> answered them when you trusted it.
                </span>
              )}
            </Drop>
            <Drop label="Kept seals or export (optional)" onFiles={([file]) => setEarlier(file)}>
              {earlier ? (
                <Chosen file={earlier} />
              ) : (
                <span className={css.quiet}>Seals that were sent out, one a line, or an earlier export.</span>
              )}
            </Drop>
          </Drops>
          <TextField
            label="Head that was kept, version:hash (optional)"
            hint="Of a workspace events:hash. Shows whether the history was rewritten before it was exported."
            value={head}
            onChange={(event) => setHead(event.target.value)}
          />
        </Form>
      </div>
      {share !== undefined && (
        <p className={css.progress}>
          <progress value={share} aria-label="Verified so far" /> {Math.floor(share * 100)} %{' '}
          <Button onClick={stop}>Stop</Button>
        </p>
      )}
      <div role="status">
        {outcome && 'problem' in outcome && (
          <section className={css.result} data-right={false}>
            <h2>
              <Status tone="bad">It does not hold</Status>
            </h2>
            <Text>{outcome.problem}</Text>
          </section>
        )}
        {outcome && 'verified' in outcome && <Right {...outcome} />}
      </div>
    </Page>
  );
}

function Right({ verified, isKept }: { verified: Found; isKept: boolean }) {
  const { signedBy, exportedAt, unchecked } = verified;
  const isProven = isKept && unchecked.length === 0;
  return (
    <section className={css.result} data-right={isProven || undefined}>
      <h2>
        {isProven ? (
          <Status tone="ok">It is as it was written</Status>
        ) : (
          <Status tone="idle">It is as it was exported, and not all is proven</Status>
        )}
      </h2>
      <p>
        <Text>{`${contentsOf(verified)}, signed by the key ${signedBy} at ${exportedAt}.`}</Text>
      </p>
      {!isKept && (
        <p className={css.quiet}>
          No verdict on whether the history was rewritten before it was exported: the service signs what its database
          says. A head, seals or an earlier export that were kept show it.
        </p>
      )}
      {isKept && unchecked.map((reason) => <p key={reason}>{reason}</p>)}
      {'notCovered' in verified && (
        <>
          <h3>What no export of one workspace shows</h3>
          {verified.notCovered.map((one) => (
            <p key={one}>
              <Text>{one}</Text>
            </p>
          ))}
        </>
      )}
    </section>
  );
}

function contentsOf(verified: Found): string {
  const count = (number: number, thing: string) => `${number.toLocaleString('en')} ${thing}`;
  if (!('workspace' in verified)) return `${verified.stream}: ${count(verified.events, 'events')}`;
  const { workspace, events, streams, seals, position } = verified;
  const counts = `${count(events, 'events')} in ${count(streams, 'streams')} under ${count(seals, 'seals')} of the log`;
  return `Workspace ${workspace}: ${counts}, up to its position ${position}`;
}

function Chosen({ file: { name, size } }: { file: File }) {
  return <Text>{`${name}, ${size.toLocaleString('en')} bytes`}</Text>;
}
