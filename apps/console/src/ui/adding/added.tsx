import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Dialog } from '../dialog';

/** Says that something is an example now, with a link to the dataset. */
export function Added({ dataset, onClose, children }: { dataset: string; onClose: () => void; children: ReactNode }) {
  const { w } = useParams({ strict: false });
  return (
    <Dialog title="Added" onClose={onClose} narrow>
      <p role="status">
        {children}{' '}
        <Link to="/o/$w/datasets/$dataset" params={{ w: w!, dataset }} search={{ tab: 'examples' }}>
          Show the dataset
        </Link>
      </p>
    </Dialog>
  );
}
