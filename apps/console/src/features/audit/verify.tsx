import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Drop, Drops } from '../../ui/drop';
import { Form, TextField } from '../../ui/form';
import { Page, Text, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './audit.module.css';
import { keptFrom, keysOf, verifyHistory } from './verify-history';

type Outcome =
  | { readonly problem: string }
  | { readonly verified: Awaited<ReturnType<typeof verifyHistory>>; isKept: boolean };

/** Holds an exported history against the keys that one has kept, in this browser: nothing is sent. */
export function VerifyPage() {
  useTitle('Verify a history');
  const { w } = useParams({ from: '/o/$w' });
  const [history, setHistory] = useState<File>();
  const [keys, setKeys] = useState<File>();
  const [earlier, setEarlier] = useState<File>();
  const [head, setHead] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    setOutcome(undefined);
    try {
      const kept = keptFrom(head, await earlier?.text());
      const verified = await verifyHistory(await history!.text(), keysOf(await keys!.text()), kept);
      setOutcome({ verified, isKept: kept.head !== undefined || kept.seals !== undefined });
    } catch (error) {
      setOutcome({ problem: (error as Error).message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/audit" params={{ w }} className={css.crumb}>
            Audit log
          </Link>{' '}
          <span className={css.quiet}>/</span> <span>Verify a history</span>
        </>
      }
    >
      <p className={css.lead}>
        An exported history ends with a signature. This page checks the chain of its events and the signatures with what
        the browser brings: no file leaves it, and the service is not asked.
      </p>
      <div className={css.narrow}>
        <Form action="Verify" unsaved={false} busy={busy} disabled={!history || !keys} onSubmit={() => void verify()}>
          <Drops>
            <Drop label="History, a .jsonl file" onFiles={([file]) => setHistory(file)}>
              {history ? <Chosen file={history} /> : '“Export, signed” in the history of a deployment writes it.'}
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
            hint="Shows whether the history was rewritten before it was exported."
            value={head}
            onChange={(event) => setHead(event.target.value)}
          />
        </Form>
      </div>
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

function Right({ verified, isKept }: { verified: Awaited<ReturnType<typeof verifyHistory>>; isKept: boolean }) {
  const { stream, events, signedBy, exportedAt, unchecked } = verified;
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
        <Text>{`${stream}: ${events.toLocaleString('en')} events, signed by the key ${signedBy} at ${exportedAt}.`}</Text>
      </p>
      {!isKept && (
        <p className={css.quiet}>
          No verdict on whether the history was rewritten before it was exported: the service signs what its database
          says. A head, seals or an earlier export that were kept show it.
        </p>
      )}
      {isKept && unchecked.map((reason) => <p key={reason}>{reason}</p>)}
    </section>
  );
}

function Chosen({ file: { name, size } }: { file: File }) {
  return <Text>{`${name}, ${size.toLocaleString('en')} bytes`}</Text>;
}
