import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Drop, Drops } from '../../ui/drop';
import { Form, TextField } from '../../ui/form';
import { Page, Text, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './audit.module.css';
import { headOf, keysOf, verifyHistory } from './verify-history';

type Outcome =
  { readonly problem: string } | { readonly verified: Awaited<ReturnType<typeof verifyHistory>>; head: boolean };

/** Holds an exported history against the keys that one has kept, in this browser: nothing is sent. */
export function VerifyPage() {
  useTitle('Verify a history');
  const { w } = useParams({ from: '/o/$w' });
  const [history, setHistory] = useState<File>();
  const [keys, setKeys] = useState<File>();
  const [head, setHead] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    setOutcome(undefined);
    try {
      const expected = headOf(head);
      const verified = await verifyHistory(await history!.text(), keysOf(await keys!.text()), expected);
      setOutcome({ verified, head: expected !== undefined });
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
        An exported history ends with a signature. This page checks the chain of its events and the signature with what
        the browser brings: no file leaves it, and the service is not asked.
      </p>
      <div className={css.narrow}>
        <Form action="Verify" busy={busy} disabled={!history || !keys} onSubmit={() => void verify()}>
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

function Right({ verified, head }: { verified: Awaited<ReturnType<typeof verifyHistory>>; head: boolean }) {
  const { stream, events, signedBy, exportedAt } = verified;
  return (
    <section className={css.result} data-right>
      <h2>
        <Status tone="ok">It is as it was exported</Status>
      </h2>
      <p>
        <Text>{`${stream}: ${events.toLocaleString('en')} events, signed by the key ${signedBy} at ${exportedAt}.`}</Text>
      </p>
      {!head && (
        <p className={css.quiet}>
          Not checked: whether the history was rewritten before it was exported. A head that was kept would show it.
        </p>
      )}
    </section>
  );
}

function Chosen({ file: { name, size } }: { file: File }) {
  return <Text>{`${name}, ${size.toLocaleString('en')} bytes`}</Text>;
}
