import { Link, useParams } from '@tanstack/react-router';
import { type DragEvent, type ReactNode, useId, useState } from 'react';
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
          <div className={css.drop}>
            <Drop label="History, a .jsonl file" file={history} onFile={setHistory}>
              “Export, signed” in the history of a deployment writes it.
            </Drop>
            <Drop label="Keys, keys.json" file={keys} onFile={setKeys}>
              As <a href="/v1/audit/keys">the service</a> answered them when you trusted it.
            </Drop>
          </div>
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

interface DropProps {
  readonly label: string;
  readonly file?: File;
  readonly onFile: (file: File) => void;
  readonly children: ReactNode;
}

function Drop({ label, file, onFile, children }: DropProps) {
  const id = useId();
  const [over, setOver] = useState(false);
  const drag = (event: DragEvent) => {
    event.preventDefault();
    setOver(event.type === 'dragover');
    const [dropped] = event.dataTransfer.files;
    if (event.type === 'drop' && dropped) onFile(dropped);
  };
  return (
    <div data-over={over} onDragOver={drag} onDragLeave={drag} onDrop={drag}>
      <label htmlFor={id}>{label}</label>
      <input id={id} type="file" onChange={(event) => event.target.files?.[0] && onFile(event.target.files[0])} />
      <p className={css.quiet}>
        {file ? <Text>{`${file.name}, ${file.size.toLocaleString('en')} bytes`}</Text> : children}
      </p>
    </div>
  );
}
