import { useMutation } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { readLossless } from '../../api/client';
import { printLossless } from '../../api/lossless';
import type { TraceLine } from '../../api/traces';
import { Action } from '../../ui/action';
import { lateDialog } from '../../ui/late';
import { Button, Problem } from '../../ui/parts';
import { save } from '../../ui/save';
import css from './runs.module.css';

const AddRuns = lateDialog(async () => (await import('./add-runs')).AddRuns);
/** Runs of one request to add examples, and of an export. */
const MOST = 100;

interface BulkProps {
  readonly chosen: readonly TraceLine[];
  readonly onDone: () => void;
}

/** Buttons that add all ticked runs to a dataset, or save them. */
export function BulkActions({ chosen, onDone }: BulkProps) {
  const [isAdding, setAdding] = useState(false);
  const tooMany = chosen.length > MOST;
  const title = tooMany ? `At most ${MOST} at a time.` : undefined;
  const exporting = useMutation({
    mutationFn: async () => {
      const lines: string[] = [];
      for (const { id } of chosen) lines.push(line(await readLossless(`/api/v1/runs/${encodeURIComponent(id)}`)));
      save('runs.jsonl', lines.join(''));
    },
  });
  return (
    <div className={css.line}>
      <span role="status">
        {chosen.length} ticked{tooMany && `. ${title}`}
      </span>
      <Action scope="write" disabled={tooMany} title={title} onClick={() => setAdding(true)}>
        Add to dataset …
      </Action>
      <Button disabled={tooMany || exporting.isPending} title={title} onClick={() => exporting.mutate()}>
        {exporting.isPending ? 'Exporting …' : 'Export'}
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Tick none
      </Button>
      {exporting.error && <Problem error={exporting.error} />}
      <Suspense>{isAdding && <AddRuns chosen={chosen} onDone={onDone} onClose={() => setAdding(false)} />}</Suspense>
    </div>
  );
}

/** A run as a line of JSON, its numbers as they were sent. */
function line(run: unknown): string {
  return `${printLossless(run, 0).replaceAll('\n', ' ')}\n`;
}
